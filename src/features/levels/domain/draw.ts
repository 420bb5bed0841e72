import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

import { sha256Hex } from '../../../kernel/crypto/sha256.js';

/** Draws numbers and items; the same seed always draws the same, everywhere. */
export type LevelDraw = {
  /** An integer, both ends included. */
  within(least: number, most: number): number;
  /** One element of a list that is not empty. */
  oneOf<Thing>(list: readonly Thing[]): Thing;
  /** Some elements of a list, each once, in any order; all of them if it has no more. */
  someOf<Thing>(list: readonly Thing[], count: number): readonly Thing[];
};

/** @param seed any text: its digest initialises the generator */
export const createLevelDraw = (seed: string): LevelDraw => {
  const generator = xoroshiro128plus(Number.parseInt(sha256Hex(seed).slice(0, 8), 16) | 0);
  const within = (least: number, most: number): number => uniformInt(generator, least, most);
  return {
    within,
    oneOf: (list) => list[within(0, list.length - 1)] as (typeof list)[number],
    someOf: (list, count) => {
      const left = [...list];
      return Array.from({ length: Math.min(count, left.length) }, () =>
        left.splice(within(0, left.length - 1), 1),
      ).flat();
    },
  };
};
