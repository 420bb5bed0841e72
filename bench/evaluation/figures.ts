import type { Asked } from './ranked.js';
import type { Scorer } from './scorers.js';

/** How well questions were answered: shares of them, and the mean of 1 / the rank of the first right memory. */
export type Hits = {
  readonly questions: number;
  readonly first: number;
  readonly five: number;
  readonly reciprocal: number;
};

/** The rank of the first right memory, from 1; of memories with the same score the wrong ones come first. */
const placeOf = ({ memories }: Asked, { score }: Scorer): number => {
  const scored = memories.map(({ isRight, grounds }) => ({ isRight, score: score(grounds) }));
  const best = Math.max(...scored.flatMap((one) => (one.isRight ? [one.score] : [])));
  return 1 + scored.filter((one) => !one.isRight && one.score >= best).length;
};

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** For the questions that have an answer. */
export const hitsOf = (asked: readonly Asked[], scorer: Scorer): Hits => {
  const places = asked.filter(({ question }) => question.right.length > 0).map((each) => placeOf(each, scorer));
  return {
    questions: places.length,
    first: mean(places.map((place) => Number(place === 1))),
    five: mean(places.map((place) => Number(place <= 5))),
    reciprocal: mean(places.map((place) => 1 / place)),
  };
};

/** The share of memories that score 0.5 or more: right ones, their neighbours, and memories of questions that nothing answers. */
export type Threshold = {
  /** The share of questions with a right memory at 0.5 or more. */
  readonly answered: number;
  readonly right: number;
  readonly neighbours: number;
  readonly unrelated: number;
};

/** The figures for the threshold of 0.5. */
export const thresholdOf = (asked: readonly Asked[], { score }: Scorer): Threshold => {
  const passes = (each: Asked['memories'][number]): boolean => score(each.grounds) >= 0.5;
  const share = (memories: Asked['memories']): number => mean(memories.map((each) => Number(passes(each))));
  const answerable = asked.filter(({ question }) => question.right.length > 0);
  const memories = answerable.flatMap((each) => each.memories);
  return {
    answered: mean(answerable.map((each) => Number(each.memories.some((one) => one.isRight && passes(one))))),
    right: share(memories.filter(({ isRight }) => isRight)),
    neighbours: share(memories.filter(({ isRight }) => !isRight)),
    unrelated: share(asked.filter(({ question }) => question.right.length === 0).flatMap((each) => each.memories)),
  };
};

/** The cosine above which the share of right memories equals the share of unrelated ones below; for a model that has not been measured yet. */
export const separatingCosine = (asked: readonly Asked[]): number => {
  const right = asked.flatMap(({ memories }) => memories.filter(({ isRight }) => isRight)).map(({ cosine }) => cosine);
  const unrelated = asked
    .filter(({ question }) => question.right.length === 0)
    .flatMap(({ memories }) => memories.map(({ cosine }) => cosine));
  const candidates = Array.from({ length: 99 }, (_, at) => (at + 1) / 100);
  const gap = (at: number): number =>
    Math.abs(mean(right.map((one) => Number(one >= at))) - mean(unrelated.map((one) => Number(one < at))));
  return candidates.reduce((best, at) => (gap(at) < gap(best) ? at : best));
};
