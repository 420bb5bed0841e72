import type { Clock } from '../../ports/clock.js';
import { abortWith } from './abort-with.js';

export type TimeLimit = {
  /** How long the work may take, in milliseconds, and the error after that. */
  readonly ms: number;
  readonly late: () => Error;
  /** Ends the work earlier: its caller leaves, or its owner is being disposed of. */
  readonly signal?: AbortSignal | undefined;
  readonly closing?: AbortSignal;
};

/**
 * Does work with a timeout. The signal that `work` gets aborts when the time is up or the caller or the owner leaves, and this rejects immediately.
 * Work that ignores its signal is left running, and its outcome is ignored.
 * @throws the error of `late`, the reason of `signal` or `closing`, and what `work` throws in time
 */
export const withTimeLimit = async <T>(
  clock: Pick<Clock, 'after'>,
  { ms, late, signal, closing }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const abort = new AbortController();
  const letGo = abortWith(abort, signal, closing);
  abort.signal.throwIfAborted();
  const ended = new Promise<never>((_, reject) => {
    abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error), { once: true });
  });
  const cancel = clock.after(ms, () => abort.abort(late()));
  try {
    return await Promise.race([work(abort.signal), ended]);
  } finally {
    cancel();
    letGo();
  }
};
