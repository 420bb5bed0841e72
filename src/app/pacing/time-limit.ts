import type { Clock } from '../../ports/clock.js';
import { abortWith } from './abort-with.js';

/** How long work may take, in milliseconds, what it fails with then, and what ends it earlier. */
export type TimeLimit = { readonly ms: number; readonly late: () => Error; readonly signal?: AbortSignal };

/**
 * Does work that must end in time. Its signal aborts when the time is up or `signal` aborts, and this rejects at once. Work that does not listen to
 * its signal is left running, and its outcome is ignored.
 * @throws what `late` makes, the reason of `signal`, and what `work` throws in time
 */
export const withTimeLimit = async <T>(
  clock: Pick<Clock, 'after'>,
  { ms, late, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  signal?.throwIfAborted();
  const abort = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error), { once: true });
  });
  const letGo = abortWith(abort, signal);
  const cancel = clock.after(ms, () => abort.abort(late()));
  try {
    return await Promise.race([work(abort.signal), ended]);
  } finally {
    cancel();
    letGo();
  }
};
