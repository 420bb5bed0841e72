type Running<T> = { readonly done: Promise<T>; readonly abort: AbortController; waiting: number };

/** Runs work once for all callers that join while it runs, and aborts it when the last of them has left. */
export class SingleFlight<T> {
  readonly #running = new Map<string, Running<T>>();

  /**
   * Joins the work with this name, or begins it if none is running.
   * @throws what the work throws, and the reason of `signal` if this caller leaves early
   */
  async join(name: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const running = this.#running.get(name) ?? this.#begin(name, work);
    running.waiting += 1;
    let leave = (): void => undefined;
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason as Error);
    });
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([running.done, left]);
    } finally {
      signal.removeEventListener('abort', leave);
      running.waiting -= 1;
      if (running.waiting === 0) {
        this.#forget(name, running);
        running.abort.abort();
      }
    }
  }

  #begin(name: string, work: (signal: AbortSignal) => Promise<T>): Running<T> {
    const abort = new AbortController();
    const running: Running<T> = { done: work(abort.signal), abort, waiting: 0 };
    this.#running.set(name, running);
    // A caller that comes after its end must see the state at that time.
    const end = (): void => this.#forget(name, running);
    running.done.then(end, end);
    return running;
  }

  #forget(name: string, running: Running<T>): void {
    if (this.#running.get(name) === running) this.#running.delete(name);
  }
}
