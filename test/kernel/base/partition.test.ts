import { expect, it } from 'vitest';

import { partitionOf } from '../../../src/kernel/base/partition.js';

it('a stream never changes its partition', () => {
  const streams = ['tenants', 'npc-local.mira', 'npc-local.=e2=9c=a8', 'ruleset-studio.default', ''];
  expect(streams.map((stream) => partitionOf(stream, 8))).toMatchInlineSnapshot(`
    [
      2,
      6,
      5,
      3,
      3,
    ]
  `);
});

it('streams are spread evenly, even if their names differ in one character', () => {
  const counts = Array.from({ length: 8 }, () => 0);
  for (let n = 0; n < 8_000; n += 1) {
    const partition = partitionOf(`npc-local.${n}`, 8);
    counts[partition] = (counts[partition] ?? 0) + 1;
  }
  expect(counts).toHaveLength(8);
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
