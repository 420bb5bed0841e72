import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { byScore, type Candidate } from './candidates.js';

/** How many rows are read at a time to apply a filter to them. */
const FILTERED_ROWS = 64;

/** The search: at most `limit` results, none below `minScore`, and only those that `accept` returns. */
export type Wanted = {
  readonly limit: number;
  readonly minScore: number;
  /** Absent: accept all. */
  readonly accept?: (candidates: readonly Candidate[]) => Promise<readonly Candidate[]>;
};

/** The best candidates from any number of sources, each of which yields its best first. A source is abandoned as soon as it can add nothing more. */
export class BestCandidates {
  readonly #wanted: Wanted;
  #best: readonly Candidate[] = [];

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** Best first. */
  get all(): readonly Candidate[] {
    return this.#best;
  }

  /** Adds the candidates of a source. Other work runs between two reads of rows. */
  async take(source: Iterable<Candidate>): Promise<void> {
    const { limit, accept } = this.#wanted;
    const iterator = source[Symbol.iterator]();
    for (let accepted = 0, isOver = false; accepted < limit && !isOver;) {
      const batch: Candidate[] = [];
      const size = accept === undefined ? limit : FILTERED_ROWS;
      while (batch.length < size && !isOver) {
        const next: IteratorResult<Candidate, unknown> = iterator.next();
        if (next.done === true || !this.#mayBeAmong(next.value)) isOver = true;
        else batch.push(next.value);
      }
      if (batch.length === 0) return;
      const through = accept === undefined ? batch : await accept(batch);
      this.#best = [...this.#best, ...through].sort(byScore).slice(0, limit);
      accepted += through.length;
      if (accept !== undefined) await yieldToEventLoop();
    }
  }

  #mayBeAmong(candidate: Candidate): boolean {
    const { limit, minScore } = this.#wanted;
    if (candidate.score < minScore) return false;
    const last = this.#best[limit - 1];
    return last === undefined || byScore(candidate, last) < 0;
  }
}
