import { Rejection } from '../../kernel/base/rejection.js';
import type { AppendOutcome, ExpectedRevision } from '../../ports/event-store.js';
import type { SerialisedEvent } from '../shared/append-rules.js';
import { AppendFailed, type ExactAnswer } from './append-answers.js';
import { type BatchCall, NoAnswer } from './batch-call.js';
import type { LogHorizon } from './log-horizon.js';
import type { StoreConnection } from './store-connection.js';
import { isDenied, refusedForGood } from './store-failures.js';
import type { StoreReader } from './store-reader.js';
import type { StreamNames } from './stored-event.js';

/**
 * How long an append that was not allowed counts against the store, in milliseconds: without traffic nothing would show that it allows them again.
 */
const DENIED_MS = 30_000;

/** An append, and its times in milliseconds of the process's clock. */
export type TimedAppend = {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly SerialisedEvent[];
  /** When it came, when it must be answered, and when while a leader is elected. */
  readonly since: number;
  readonly until: number;
  readonly electedBy: number;
  /** The highest position that was known before it was first sent. */
  readonly known: number;
};

export type AppendAttemptsDeps = {
  readonly connection: StoreConnection;
  readonly reader: StoreReader;
  readonly names: StreamNames;
  readonly horizon: LogHorizon;
  /** How long an attempt may wait for its answer, in milliseconds. */
  readonly answerMs: number;
};

/** Whether the store answered that it cannot write yet, and has written nothing. */
export const isNotYet = (error: unknown): boolean => error instanceof AppendFailed && error.fate === 'notYet';

/** Whether the store answered that it will never write this append. */
export const isRefusal = (error: unknown): boolean => error instanceof Rejection && error.retryAfter === undefined;

/** Single attempts at appends. */
export class AppendAttempts {
  readonly #deps: AppendAttemptsDeps;
  #denied: { readonly error: AppendFailed; readonly at: number } | null = null;

  constructor(deps: AppendAttemptsDeps) {
    this.#deps = deps;
  }

  /** Why the store did not allow the last append; null if it did, or if that was a while ago: then the next one shows it. */
  get denied(): AppendFailed | null {
    return this.#denied !== null && performance.now() - this.#denied.at < DENIED_MS ? this.#denied.error : null;
  }

  /**
   * One attempt, on a call.
   * @throws Rejection STORE_UNAVAILABLE if the store refuses it for good; AppendFailed if it could not be accepted; NoAnswer; what ended the call
   */
  async make(append: TimedAppend, call: BatchCall): Promise<AppendOutcome> {
    const { connection, names, answerMs } = this.#deps;
    const { stream, expected, events, until } = append;
    const left = Math.max(1, Math.min(answerMs, until - performance.now()));
    try {
      const answer = await call.append({ stream: names.toServer(stream), expected, events }, left);
      const outcome = await this.#outcome(append, answer);
      this.#denied = null;
      return outcome;
    } catch (error) {
      if (isNotYet(error)) connection.foundNoLeader();
      if (!(error instanceof AppendFailed) || error.fate !== 'refused') throw error;
      if (isDenied(error)) this.#denied = { error, at: performance.now() };
      throw refusedForGood(error);
    }
  }

  async #outcome({ stream, known }: TimedAppend, answer: ExactAnswer): Promise<AppendOutcome> {
    if (answer.kind === 'conflict') return { ok: false, actual: answer.actual };
    const { revision } = answer;
    const position = answer.position ?? (await this.#placeOf(stream, revision));
    this.#deps.horizon.meet(position);
    return { ok: true, revision, position, repeated: position <= known };
  }

  /** The position of a recorded append. @throws NoAnswer if it cannot be read */
  async #placeOf(stream: string, revision: number): Promise<number> {
    try {
      return (await this.#deps.reader.idsFrom(stream, revision, 1)).position;
    } catch (cause) {
      throw Object.assign(new NoAnswer('The position of an append cannot be read.'), { cause });
    }
  }
}
