import type { Clock } from '../../ports/clock.js';

/** This many failed attempts in a row open the breaker. */
export const FAILURES = 3;
/** How long it stays open, in milliseconds; then one call is tried. */
export const OPEN_MS = 5_000;

/** A circuit breaker: while a server is down, calls fail immediately. */
export type Breaker = {
  /** Milliseconds until a call makes sense; 0 lets this one through, which must then end with one of the other three. */
  enter(): number;
  succeeded(): void;
  /** @param definite a repeat would change nothing, such as a refused key: the breaker opens immediately */
  failed(reason: string, definite?: boolean): void;
  /** The call ended without showing anything: its caller left. */
  left(): void;
  /** Why the breaker is open, or lets through only a trial call; null while it is closed. */
  reason(): string | null;
  /** Why the breaker is open now; null once its time is over, whether or not a call has been tried since. */
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
      // The others wait for the result of the trial call.
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
