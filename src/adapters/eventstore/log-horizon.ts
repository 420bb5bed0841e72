/**
 * The highest positions that this process has seen. Positions only grow. If a write is answered with a position that was known before it was sent, it
 * was written earlier, so it is a repeat.
 */
export class LogHorizon {
  #log = 0;
  #own = 0;

  /** The position of any event on the server. */
  get log(): number {
    return this.#log;
  }

  /** The position of an event of this namespace; 0 if none was seen. */
  get own(): number {
    return this.#own;
  }

  /** Discards everything: the log is not the one that was seen. */
  forget(): void {
    this.#log = 0;
    this.#own = 0;
  }

  /** Notes the position of an event of this namespace. */
  meet(position: number): void {
    if (position > this.#own) this.#own = position;
    this.meetForeign(position);
  }

  /** Notes the position of any event, of any namespace. */
  meetForeign(position: number): void {
    if (position > this.#log) this.#log = position;
  }
}
