import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { EMBED_TEXTS, type Embedder } from '../../src/ports/embedder.js';

const THEFT = 'The player stole the ruby necklace from the chest.';
const WEATHER = 'Snow fell on the pass all night.';
const LONG = `${THEFT} ${WEATHER} `.repeat(24);
const calm = { urgent: false };

const dot = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, number, at) => sum + number * (other[at] ?? NaN), 0);

/** The promises of every embedder, whatever makes its vectors. */
export const embedderContract = (name: string, open: () => Promise<Embedder>): void => {
  describe(`${name} as an embedder`, () => {
    let embedder: Embedder;

    beforeAll(async () => {
      embedder = await open();
    });
    afterAll(() => embedder[Symbol.asyncDispose]());

    const one = async (text: string): Promise<Float32Array> => {
      const [vector] = await embedder.embed([text], calm);
      if (!(vector instanceof Float32Array)) throw new Error(`no vector for ${text}`);
      return vector;
    };

    it('has an id without spaces', () => {
      expect(embedder.id).toMatch(/^[\x21-\x7e]{1,160}$/);
    });

    it('makes vectors of unit length and of one number of dimensions', async () => {
      const vectors = await embedder.embed([THEFT, WEATHER, LONG], calm);
      const dimensions = (await one(THEFT)).length;
      for (const vector of vectors) {
        expect(vector).toHaveLength(dimensions);
        expect(vector === null ? 0 : dot(vector, vector)).toBeCloseTo(1, 5);
      }
    });

    it('answers in the order of the texts, with null for texts without meaning', async () => {
      const [empty, theft, blank, weather] = await embedder.embed(['', THEFT, ' \n\t', WEATHER], calm);
      expect([empty, blank]).toEqual([null, null]);
      expect(theft).toEqual(await one(THEFT));
      expect(weather).toEqual(await one(WEATHER));
      expect(theft).not.toEqual(weather);
      expect(await embedder.embed([], calm)).toEqual([]);
    });

    it('makes the same vector for a text alone, in a batch and repeated', async () => {
      const alone = await one(THEFT);
      const company = await embedder.embed([WEATHER, 'x', THEFT, LONG, THEFT], { urgent: true });
      expect(company[2]).toEqual(alone);
      expect(company[4]).toEqual(alone);
      await using again = await open();
      expect(await again.embed([THEFT], calm)).toEqual([alone]);
    });

    it('distinguishes long texts that differ only at their end', async () => {
      expect(await one(`${LONG}The king is dead.`)).not.toEqual(await one(LONG));
    });

    it(`accepts ${String(EMBED_TEXTS)} texts per call, and no more`, async () => {
      const texts = Array.from({ length: EMBED_TEXTS + 1 }, (_, n) => `Guest ${String(n)} came in.`);
      const vectors = await embedder.embed(texts.slice(0, EMBED_TEXTS), calm);
      expect(vectors.filter((vector) => vector !== null)).toHaveLength(EMBED_TEXTS);
      await expect(embedder.embed(texts, calm)).rejects.toThrow(RangeError);
    });

    it('stops on its signal, with its reason', async () => {
      const reason = new Error('enough');
      await expect(embedder.embed([THEFT], { ...calm, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    });

    it('scores equal texts 1, opposite ones 0, and more the closer they are', () => {
      const cosines = Array.from({ length: 201 }, (_, n) => n / 100 - 1);
      const scores = cosines.map((cosine) => embedder.score(cosine));
      expect([scores[0], scores[200]]).toEqual([0, 1]);
      expect(scores).toEqual([...scores].sort((a, b) => a - b));
      expect(embedder.score(1.000_001)).toBe(1);
    });

    it('scores paraphrases 0.5 or more, and unrelated texts below', async () => {
      const [theft, again, weather] = await embedder.embed(
        [THEFT, 'The player stole a ruby necklace from a chest.', WEATHER],
        calm,
      );
      if (!theft || !again || !weather) throw new Error('a vector is missing');
      expect(embedder.score(dot(theft, again))).toBeGreaterThanOrEqual(0.5);
      expect(embedder.score(dot(theft, weather))).toBeLessThan(0.5);
    });

    it('accepts no calls after disposal', async () => {
      await embedder[Symbol.asyncDispose]();
      await expect(embedder.embed([THEFT], calm)).rejects.toMatchObject({ code: 'EMBEDDER_UNAVAILABLE' });
    });
  });
};
