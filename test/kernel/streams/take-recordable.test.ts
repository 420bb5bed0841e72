import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { takeRecordable } from '../../../src/kernel/streams/take-recordable.js';
import { countTurns } from '../../support/loop-turns.js';

const turnsOf = async (brought: string): Promise<number> => {
  using turns = countTurns();
  await takeRecordable(brought);
  return turns.count;
};

describe('what a request brings to record', () => {
  it('lets others run before it is recorded where it is much, and costs no turn of the event loop otherwise', async () => {
    expect(await turnsOf('x'.repeat(500_000))).toBeGreaterThan(0);
    expect(await turnsOf('x'.repeat(1_000))).toBe(0);
  });

  it('is taken in this way wherever it is taken', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const direct = sources.filter((name) => readFileSync(join('src', name), 'utf8').includes('requireRecordable('));
    expect(direct).toEqual(['kernel/streams/take-recordable.ts']);
  });
});
