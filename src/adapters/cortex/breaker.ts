import type { Clock } from '../../ports/clock.js';

/** So many failed attempts in a row open the breaker. */
export const FAILURES = 3;
/** How long it stays open, in milliseconds; then one call tries. */
export const OPEN_MS = 5_000;

/** Keeps calls away from a server that is down, so that they fail at once. */
export type Breaker = {
  /** Milliseconds until a call makes sense; 0 lets this one through, which must then end with one of the other three. */
  enter(): number;
  succeeded(): void;
  /** @param definite nothing will change with a repeat, such as a refused key: it opens at once */
  failed(reason: string, definite?: boolean): void;
  /** The call ended without showing anything: its caller gave it up. */
  left(): void;
  /** Why calls are kept away, or the next one only tries; null while all is well. */
  reason(): string | null;
  /** Why calls are kept away now; null once its time is over, whether or not a call has tried since. */
  away(): string | null;
};

/** A closed breaker. */
export const createBreaker = (clock: Pick<Clock, 'monotonicMs'>): Breaker => {
  let failures = 0;
  let open: { readonly reason: string; readonly untilMs: number } | null = null;
  let trying = false;
  return {
    enter: () => {
      if (open === null) return 0;
      const leftMs = open.untilMs - clock.monotonicMs();
      if (leftMs > 0) return leftMs;
      // Others wait for what the one that tries will show.
      if (trying) return OPEN_MS;
      trying = true;
      return 0;
    },
    succeeded: () => {
      failures = 0;
      open = null;
      trying = false;
    },
    failed: (reason, definite = false) => {
      failures += 1;
      if (definite || trying || failures >= FAILURES) open = { reason, untilMs: clock.monotonicMs() + OPEN_MS };
      trying = false;
    },
    left: () => {
      trying = false;
    },
    reason: () => open?.reason ?? null,
    away: () => (open !== null && open.untilMs > clock.monotonicMs() ? open.reason : null),
  };
};
