import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { openBuiltin } from '../../../src/adapters/embedders/open.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { embedderContract } from '../../contracts/embedder.js';
import { seededRandom } from '../../support/seeded-random.js';

const fail = (fields: object, message: string): never => expect.unreachable(`${message} ${JSON.stringify(fields)}`);
const open = () =>
  openBuiltin(1, { clock: systemClock, random: seededRandom('builtin'), log: { info: fail, warn: fail, error: fail } });

embedderContract('The built-in one', async () => open());

const cosine = (one: Float32Array | readonly number[] | null | undefined, other: Float32Array | null | undefined) =>
  other?.reduce((sum, number, at) => sum + number * (one?.[at] ?? NaN), 0) ?? NaN;

/** Vectors of the package that the model was converted from, and pairs of texts that say related things. */
const { vectors: originals, pairs } = JSON.parse(
  readFileSync(new URL('../../fixtures/embedders/multilingual.json', import.meta.url), 'utf8'),
) as {
  readonly vectors: readonly { readonly text: string; readonly vector: readonly number[] }[];
  readonly pairs: readonly (readonly [string, string])[];
};

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
    const scores = texts.map((text) => embedder.score(cosine(query, text)));
    expect(scores.map((score) => score >= 0.5)).toEqual([true, false, false]);
  });

  it('makes the vectors of the original, in every language [3.7a]', async () => {
    await using embedder = open();
    const vectors = await embedder.embed(
      originals.map(({ text }) => text),
      { urgent: false },
    );
    for (const [at, { text, vector }] of originals.entries())
      expect(cosine(vector, vectors[at]), text).toBeGreaterThan(0.9998);
  });

  it('finds a text in other words of its language, and in another language [3.7a]', async () => {
    await using embedder = open();
    const vectors = await embedder.embed(pairs.flat(), { urgent: false });
    for (const [at, [asked]] of pairs.entries())
      expect(embedder.score(cosine(vectors[2 * at], vectors[2 * at + 1])), asked).toBeGreaterThanOrEqual(0.5);
  });

  it('makes no vector of a script that it does not know [3.7b]', async () => {
    await using embedder = open();
    const unknown = ['Ο μύλος κάηκε χθες το βράδυ.', 'चक्की कल रात जल गई।', 'הטחנה נשרפה אתמול בלילה.'];
    const known = ['The mill is called Μύλος by its owner.', '12:30 — 5 %', 'Łódź'];
    const vectors = await embedder.embed([...unknown, ...known], { urgent: false });
    expect(vectors.map((vector) => vector === null)).toEqual([true, true, true, false, false, false]);
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
