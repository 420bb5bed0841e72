import type { Clock } from '../../ports/clock.js';

/** Resolves after `ms`, when `signal` aborts, or when woken. `wakeOn` receives the function that wakes, and returns one that unsubscribes it. */
export const pause = async (
  clock: Pick<Clock, 'after'>,
  ms: number,
  signal?: AbortSignal,
  wakeOn: (wake: () => void) => () => void = () => () => undefined,
): Promise<void> => {
  if (signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      cancel();
      stopListening();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.after(ms, wake);
    const stopListening = wakeOn(wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
};

/** The delays before a retry after a failure, in milliseconds; the last one repeats. */
const RETRY_MS = [100, 250, 500, 1_000, 2_000, 5_000] as const;

/** The pause after this many failures in a row, in milliseconds. */
export const retryMs = (failures: number): number => RETRY_MS[Math.min(failures, RETRY_MS.length) - 1] ?? 0;
