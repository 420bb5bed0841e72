export type PresenceDeps = {
  /** Checks whether the server is available. Rejects if it does not answer. */
  readonly probe: () => Promise<void>;
  /** The error of work that is refused, or fails, while the server is unavailable. */
  readonly away: () => Error;
  /** Called whenever the server stopped responding. */
  readonly silent?: () => void;
};

/**
 * Whether a server is available, shared by everything that needs it. Its owner reports when the server stopped responding, because each server shows
 * that in a different way.
 */
export class Presence {
  readonly #deps: PresenceDeps;
  readonly #underWay = new Set<AbortController>();
  #isAway = false;
  #probing: Promise<void> | null = null;

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
  }

  /** Whether the server stopped responding and has not answered since. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Whether work is in progress. */
  get isNeeded(): boolean {
    return this.#underWay.size > 0;
  }

  /**
   * Does work that needs the server. Its signal aborts when the result is no longer needed.
   * @throws the error of `away`: immediately while the server is unavailable, and as soon as it stops responding; and what the work throws
   */
  async during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isAway) throw this.#deps.away();
    const abort = new AbortController();
    const gone = new Promise<never>((_, reject) => {
      abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error), { once: true });
    });
    this.#underWay.add(abort);
    try {
      // Work that throws synchronously counts as in progress, too: the watcher of the server relies on it.
      const done = async (): Promise<T> => work(abort.signal);
      return await Promise.race([done(), gone]);
    } finally {
      this.#underWay.delete(abort);
    }
  }

  /** Probes the server, once for all simultaneous callers. @throws what the probe throws; that alone does not mean that the server is unavailable */
  probe(): Promise<void> {
    this.#probing ??= this.#deps
      .probe()
      .then(() => this.answered())
      .finally(() => (this.#probing = null));
    return this.#probing;
  }

  /** The server answered. */
  answered(): void {
    this.#isAway = false;
  }

  /** The server is unavailable. All work in progress fails. */
  fellSilent(): void {
    this.#isAway = true;
    for (const abort of this.#underWay) abort.abort(this.#deps.away());
    this.#deps.silent?.();
  }
}
