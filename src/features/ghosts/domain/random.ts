import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';

/** The state of a generator (xoroshiro128+) as plain JSON: a restored generator continues exactly where it was. */
export type Chance = readonly number[];

/** The number of values of 32 bits. */
const WORD = 0x1_0000_0000;

/** The generator for a seed; all bits of an integer count, so that seeds beyond 32 bits differ. */
export const chanceOf = (seed: number): Chance => {
  const high = Math.floor(seed / WORD) | 0;
  return [-1, ~seed, seed | 0, high];
};

/** Draws from a state; `left` is the state after the draws. */
export type Dice = {
  /** An integer, both ends included. */
  int(low: number, high: number): number;
  /** True in `percent` of a hundred draws. */
  luck(percent: number): boolean;
  pick<const T>(from: readonly [T, ...T[]]): T;
  /** One of these, undefined if there are none. */
  any<T>(from: readonly T[]): T | undefined;
  left(): Chance;
};

/** Dice that continue from a state. The state itself does not change. */
export const diceOf = (chance: Chance): Dice => {
  const generator = xoroshiro128plusFromState(chance);
  const int = (low: number, high: number): number => uniformInt(generator, low, high);
  return {
    int,
    luck: (percent) => int(1, 100) <= percent,
    pick: (from) => from[int(0, from.length - 1)] ?? from[0],
    any: (from) => (from.length === 0 ? undefined : from[int(0, from.length - 1)]),
    left: () => generator.getState(),
  };
};
