/** A call was aborted before it had an answer. */
export class GivenUp extends Error {
  readonly why: 'timeout' | 'aborted';

  constructor(why: 'timeout' | 'aborted') {
    super(why);
    this.name = 'GivenUp';
    this.why = why;
  }
}

// The body runs inside a game and waits on the network in real time; nothing that it decides depends on these timers.
// eslint-disable-next-line no-restricted-globals
const after = (ms: number, run: () => void): NodeJS.Timeout => setTimeout(run, ms);

/** Waits in real time. */
export const sleepFor = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    after(ms, resolve);
  });

/**
 * Runs a call that must not outlive `timeoutMs` or its caller's signal. After either, the call's own signal is aborted, and the wait ends even if the
 * call ignores it. Its timer and listener are gone when this settles.
 * @throws GivenUp, or what the call threw
 */
export const withDeadline = async <Answer>(
  timeoutMs: number,
  caller: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> => {
  if (caller?.aborted === true) throw new GivenUp('aborted');
  const call = new AbortController();
  let giveUp: (why: 'timeout' | 'aborted') => void = () => undefined;
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = (why) => {
      reject(new GivenUp(why));
      call.abort();
    };
  });
  const timer = after(timeoutMs, () => {
    giveUp('timeout');
  });
  const onAbort = (): void => {
    giveUp('aborted');
  };
  caller?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([givenUp, run(call.signal)]);
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', onAbort);
  }
};
