/** The phase of the process: it listens while it starts, serves, then finishes running requests. */
export type Phase = 'starting' | 'ready' | 'stopping';

export type Lifecycle = {
  readonly phase: Phase;
  /** Aborted when the process begins to stop: event streams end immediately. */
  readonly stopping: AbortSignal;
  /** Everything that the server needs is open. No effect once it stops. */
  ready(): void;
  /** From now on, requests are refused. Further calls have no effect. */
  stop(): void;
};

/** Starts with the phase `starting`. */
export const createLifecycle = (): Lifecycle => {
  const controller = new AbortController();
  let phase: Phase = 'starting';
  return {
    get phase() {
      return phase;
    },
    stopping: controller.signal,
    ready() {
      if (phase === 'starting') phase = 'ready';
    },
    stop() {
      phase = 'stopping';
      controller.abort();
    },
  };
};
