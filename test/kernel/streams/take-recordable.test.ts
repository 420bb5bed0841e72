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

describe('the recorded part of a request', () => {
  it('yields before it is recorded if it is large, and costs no turn of the event loop otherwise', async () => {
    expect(await turnsOf('x'.repeat(500_000))).toBeGreaterThan(0);
    expect(await turnsOf('x'.repeat(1_000))).toBe(0);
  });

  it('is checked in this way wherever it is accepted', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const direct = sources.filter((name) => readFileSync(join('src', name), 'utf8').includes('requireRecordable('));
    expect(direct).toEqual(['kernel/streams/take-recordable.ts']);
  });
});
