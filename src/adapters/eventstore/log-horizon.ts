/**
 * The highest positions this process has met. Positions only grow: a write that is answered with one that was known before it was sent was
 * written earlier, so it is a repeat.
 */
export class LogHorizon {
  #log = 0;
  #own = 0;

  /** Of any event on the server. */
  get log(): number {
    return this.#log;
  }

  /** Of an event of our namespace; 0 when none was met. */
  get own(): number {
    return this.#own;
  }

  /** Notes the position of an event of ours. */
  meet(position: number): void {
    if (position > this.#own) this.#own = position;
    this.meetForeign(position);
  }

  /** Notes the position of an event of anybody. */
  meetForeign(position: number): void {
    if (position > this.#log) this.#log = position;
  }
}
