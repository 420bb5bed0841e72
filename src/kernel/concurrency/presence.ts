export type PresenceDeps = {
  /** Asks the server whether it is there. Rejects when it does not answer. */
  readonly probe: () => Promise<void>;
  /** What work is refused with, and fails with, while the server is away. */
  readonly away: () => Error;
  /** Told whenever the server fell silent. */
  readonly silent?: () => void;
};

/** Whether a server is there, for all who need it together. Its owner says when the server fell silent: each server shows that in a way of its own. */
export class Presence {
  readonly #deps: PresenceDeps;
  readonly #underWay = new Set<AbortController>();
  #isAway = false;
  #probing: Promise<void> | null = null;

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
  }

  /** Whether the server fell silent and has not answered since. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Whether work is under way. */
  get isNeeded(): boolean {
    return this.#underWay.size > 0;
  }

  /**
   * Does work that needs the server. Its signal tells the work that nobody waits any more.
   * @throws what `away` makes: at once while the server is away, and as soon as it falls silent; and what the work throws
   */
  async during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isAway) throw this.#deps.away();
    const abort = new AbortController();
    const gone = new Promise<never>((_, reject) => {
      abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error), { once: true });
    });
    this.#underWay.add(abort);
    try {
      // Work that throws at once was under way, too: who watches the server counts on it.
      const done = async (): Promise<T> => work(abort.signal);
      return await Promise.race([done(), gone]);
    } finally {
      this.#underWay.delete(abort);
    }
  }

  /** Asks the server, once for all who ask at the same time. @throws what the probe throws; that alone does not mean that the server is away */
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

  /** The server is away. All work under way fails. */
  fellSilent(): void {
    this.#isAway = true;
    for (const abort of this.#underWay) abort.abort(this.#deps.away());
    this.#deps.silent?.();
  }
}
