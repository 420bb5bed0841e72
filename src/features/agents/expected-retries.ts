import { LRUCache } from 'lru-cache';

import type { Clock } from '../../ports/clock.js';

/** How long after a 503 a retry still gets the outcome of the turn that the request waited for, in milliseconds. */
export const RETRY_WITHIN_MS = 60_000;
/** How many requests are remembered; the least recently used is dropped first. */
const REQUESTS_KEPT = 10_000;

type Expected = { readonly turnId: string; readonly retries: number; readonly untilMs: number };

/** The turns whose outcome this process has promised to the retries of requests. A request is identified by a key that equal requests share. */
export type ExpectedRetries = {
  /** A request is asked to retry, and the turn continues. */
  expect(request: string, turnId: string): void;
  /** The turn that a retry of this request gets, once for each expected retry; null if none is expected. */
  take(request: string): string | null;
};

/** Initially, no retries are expected. */
export const createExpectedRetries = (
  clock: Pick<Clock, 'monotonicMs'>,
  kept: number = REQUESTS_KEPT,
): ExpectedRetries => {
  const requests = new LRUCache<string, Expected>({ max: kept });
  return {
    expect: (request, turnId) => {
      const before = requests.get(request);
      const retries = before?.turnId === turnId ? before.retries + 1 : 1;
      requests.set(request, { turnId, retries, untilMs: clock.monotonicMs() + RETRY_WITHIN_MS });
    },
    take: (request) => {
      const expected = requests.get(request);
      if (expected === undefined) return null;
      const { turnId, retries, untilMs } = expected;
      const isOver = untilMs <= clock.monotonicMs();
      if (isOver || retries === 1) requests.delete(request);
      else requests.set(request, { ...expected, retries: retries - 1 });
      return isOver ? null : turnId;
    },
  };
};
