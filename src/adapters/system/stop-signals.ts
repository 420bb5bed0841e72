import type { Clock } from '../../ports/clock.js';

/** The signals that stop a process: from a supervisor, and Ctrl-C. */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/**
 * Signals that follow the first within this time belong to it, in milliseconds. Ctrl-C on `npm start` is two signals: the terminal sends one to the
 * complete process group, and npm passes its own on.
 */
export const ONE_STOP_MS = 1_000;

type SignalSource = Pick<NodeJS.EventEmitter, 'on' | 'off'>;

/**
 * Calls `stop` at the first signal, and `giveUp` at a later one that arrives more than ONE_STOP_MS after it, because a second signal means
 * impatience.
 * @param signals the process
 * @returns stops listening
 */
export const onStopSignals = (
  signals: SignalSource,
  clock: Pick<Clock, 'monotonicMs'>,
  { stop, giveUp }: { readonly stop: () => void; readonly giveUp: () => void },
): (() => void) => {
  let firstMs: number | null = null;
  const onSignal = (): void => {
    const nowMs = clock.monotonicMs();
    if (firstMs === null) {
      firstMs = nowMs;
      stop();
    } else if (nowMs - firstMs > ONE_STOP_MS) giveUp();
  };
  for (const name of SIGNALS) signals.on(name, onSignal);
  return () => {
    for (const name of SIGNALS) signals.off(name, onSignal);
  };
};
