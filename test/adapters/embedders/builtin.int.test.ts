import { describe, expect, it } from 'vitest';

import { openBuiltin } from '../../../src/adapters/embedders/open.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { embedderContract } from '../../contracts/embedder.js';
import { seededRandom } from '../../support/seeded-random.js';

const fail = (fields: object, message: string): never => expect.unreachable(`${message} ${JSON.stringify(fields)}`);
const open = () =>
  openBuiltin(1, { clock: systemClock, random: seededRandom('builtin'), log: { info: fail, warn: fail, error: fail } });

embedderContract('The built-in one', async () => open());

describe('the built-in embedder', () => {
  it('scores a related text at 0.5 or more, and unrelated ones below [3.5e, 3.6a]', async () => {
    await using embedder = open();
    const [query, ...texts] = await embedder.embed(
      [
        'a thief took my jewelry',
        'the player stole the ruby necklace',
        'the wine from Sallow Hill turned to vinegar this year',
        'an elf sat by the fire all night and neither ate nor slept',
      ],
      { urgent: true },
    );
    const scores = texts.map((text) =>
      embedder.score(text?.reduce((sum, number, at) => sum + number * (query?.[at] ?? NaN), 0) ?? NaN),
    );
    expect(scores.map((score) => score >= 0.5)).toEqual([true, false, false]);
  });

  it('does not block the event loop', async () => {
    await using embedder = open();
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 1);
    await embedder.embed(
      Array.from({ length: 16 }, (_, n) => `Guest ${String(n)} asked for a room.`),
      { urgent: false },
    );
    clearInterval(counting);
    expect(turns).toBeGreaterThan(0);
  });
});
