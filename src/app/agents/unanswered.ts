import { LRUCache } from 'lru-cache';

import type { Clock } from '../../ports/clock.js';

/** How long after a request was told to come again its turn is still the answer to the same input, in milliseconds (contract 7.1). */
export const OWED_MS = 60_000;
/** How many inputs are remembered; the least recently used goes first. */
const INPUTS_KEPT = 10_000;

type Owed = { readonly turnId: string; readonly times: number; readonly untilMs: number };

/** The turns whose outcome this process still owes to requests that it told to come again. */
export type Unanswered = {
  /** A request with this input is told to come again, and the turn goes on. */
  noted(input: string, turnId: string): void;
  /** The turn that is owed to a request with this input, once for each that was noted; null when there is none. */
  take(input: string): string | null;
};

/** Nothing is owed yet. An input stands for whatever makes two requests the same. */
export const createUnanswered = (clock: Pick<Clock, 'monotonicMs'>, kept: number = INPUTS_KEPT): Unanswered => {
  const inputs = new LRUCache<string, Owed>({ max: kept });
  return {
    noted: (input, turnId) => {
      const before = inputs.get(input);
      const times = before?.turnId === turnId ? before.times + 1 : 1;
      inputs.set(input, { turnId, times, untilMs: clock.monotonicMs() + OWED_MS });
    },
    take: (input) => {
      const owed = inputs.get(input);
      if (owed === undefined) return null;
      const { turnId, times, untilMs } = owed;
      if (times > 1) inputs.set(input, { ...owed, times: times - 1 });
      else inputs.delete(input);
      if (untilMs > clock.monotonicMs()) return turnId;
      inputs.delete(input);
      return null;
    },
  };
};
