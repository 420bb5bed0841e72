/**
 * Aborts a call's own controller with the first of these signals, and with its reason. Returns a function that ends this; it must be called when the
 * call has ended. AbortSignal.any would leave an entry for each call in a signal that outlives it (https://github.com/nodejs/node/issues/55351).
 */
export const abortWith = (call: AbortController, ...signals: readonly (AbortSignal | undefined)[]): (() => void) => {
  const given = signals.filter((signal) => signal !== undefined);
  const onAbort = ({ target }: Event): void => call.abort((target as AbortSignal).reason);
  const before = given.find(({ aborted }) => aborted);
  if (before !== undefined) {
    call.abort(before.reason);
    return () => undefined;
  }
  for (const signal of given) signal.addEventListener('abort', onAbort, { once: true });
  return () => {
    for (const signal of given) signal.removeEventListener('abort', onAbort);
  };
};
