import { KeyedMutex } from '../../kernel/concurrency/keyed-mutex.js';
import type { Presence } from '../../kernel/concurrency/presence.js';
import type { AppendOutcome, ExpectedRevision } from '../../ports/event-store.js';
import type { SerialisedEvent } from '../shared/append-rules.js';
import type { AppendFailed } from './append-answers.js';
import { AppendAttempts, isRefusal, type TimedAppend } from './append-attempts.js';
import { BatchOpener } from './batch-opener.js';
import type { LogHorizon } from './log-horizon.js';
import { lostBy, LostAppends } from './lost-appends.js';
import { ELECTION_MS } from './read-each.js';
import type { StoreConnection } from './store-connection.js';
import { busy, neverSent, storeUnavailable } from './store-failures.js';
import type { StoreReader } from './store-reader.js';
import { storeIsThere } from './store-watch.js';
import type { StreamNames } from './stored-event.js';

/** Bounds of the appends of one process. An append that finds them reached is refused as BUSY. */
export type AppendBounds = {
  /** The maximum number of appends without an answer, and of the characters of JSON in them. */
  readonly appendsInFlight: number;
  readonly textInFlight: number;
  /** How long an append may wait for its answer before it is looked up, and how long it may take in all, in milliseconds. */
  readonly answerMs: number;
  readonly appendMs: number;
  /** How long it may take while the store elects a leader, in milliseconds. */
  readonly electionMs: number;
};

export const APPEND_BOUNDS: AppendBounds = {
  appendsInFlight: 2_048,
  textInFlight: 64 * 1024 * 1024,
  answerMs: 1_000,
  appendMs: 1_800,
  electionMs: ELECTION_MS,
};

export type StoreAppenderDeps = {
  readonly connection: StoreConnection;
  readonly reader: StoreReader;
  readonly presence: Presence;
  readonly names: StreamNames;
  readonly horizon: LogHorizon;
  readonly bounds: AppendBounds;
};

const textOf = (events: readonly SerialisedEvent[]): number =>
  events.reduce((sum, { data, meta }) => sum + data.length + meta.length, 0);

/**
 * Appends over one shared batch call, in the order in which they come. The server always gets an exact revision: only then does it recognise a repeat
 * after a restart.
 */
export class StoreAppender {
  readonly #deps: StoreAppenderDeps;
  readonly #batch: BatchOpener;
  readonly #attempts: AppendAttempts;
  readonly #lost: LostAppends;
  /** By stream: appends that must go one after the other. */
  readonly #streams: KeyedMutex;
  /** By stream and first id: the server does not answer a repeat of an append that is in progress. */
  readonly #appends: KeyedMutex;
  readonly #awaitingDrain: (() => void)[] = [];
  #inFlight = 0;
  #text = 0;

  constructor(deps: StoreAppenderDeps) {
    const { connection, reader, bounds } = deps;
    this.#deps = deps;
    this.#batch = new BatchOpener(connection, reader);
    this.#attempts = new AppendAttempts({ ...deps, answerMs: bounds.answerMs });
    this.#lost = new LostAppends({ connection, reader, batch: this.#batch, attempts: this.#attempts });
    // Each append in flight occupies at most one slot in either.
    this.#streams = new KeyedMutex(bounds.appendsInFlight);
    this.#appends = new KeyedMutex(bounds.appendsInFlight);
  }

  /**
   * Appends as the port specifies.
   * @throws Rejection BUSY over the bounds; STORE_UNAVAILABLE if the store cannot be reached in time
   */
  async append(stream: string, expected: ExpectedRevision, events: readonly SerialisedEvent[]): Promise<AppendOutcome> {
    const { appendsInFlight, textInFlight, appendMs, electionMs } = this.#deps.bounds;
    const text = textOf(events);
    if (this.#inFlight >= appendsInFlight || this.#text + text > textInFlight) throw busy();
    this.#inFlight += 1;
    this.#text += text;
    try {
      const now = performance.now();
      const timed = { stream, expected, events, since: now, until: now + appendMs, electedBy: now + electionMs };
      return await this.#appends.runExclusive(`${stream}\n${events[0]?.id ?? ''}`, () =>
        this.#streams.isLocked(stream)
          ? this.#streams.runExclusive(stream, () => this.#sent(timed, 'exclusive'))
          : this.#sent(timed, 'free'),
      );
    } finally {
      this.#inFlight -= 1;
      this.#text -= text;
      if (this.#inFlight === 0) for (const drained of this.#awaitingDrain.splice(0)) drained();
    }
  }

  /** As AppendAttempts. */
  get denied(): AppendFailed | null {
    return this.#attempts.denied;
  }

  /** Resolves when nothing is in flight any longer, which the time bounds guarantee soon. */
  async drained(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#awaitingDrain.push(resolve));
  }

  /** `exclusive`: no other append of the stream is in flight, so a lost answer is settled immediately. */
  async #sent(timed: Omit<TimedAppend, 'known'>, order: 'free' | 'exclusive'): Promise<AppendOutcome> {
    const { presence, horizon } = this.#deps;
    if (presence.isAway) await storeIsThere(presence);
    // With an open call there is no await before the append leaves. Appends that wait for a call continue in order.
    const call = this.#batch.current ?? (await this.#batch.open());
    const until = this.#untilOf(timed);
    if (performance.now() > until) throw storeUnavailable();
    const append = { ...timed, until, known: horizon.log };
    try {
      return await this.#attempts.make(append, call);
    } catch (error) {
      if (neverSent(error)) throw storeUnavailable(error);
      if (isRefusal(error)) throw error;
      const lost = lostBy(error);
      const settle = (): Promise<AppendOutcome> => this.#lost.settle(append, lost);
      // One lost connection loses many answers together. The appends of one stream are settled in the order in which they were sent.
      return order === 'exclusive' ? settle() : this.#streams.runExclusive(append.stream, settle);
    }
  }

  /** Until when it must be answered: an append that waited for a leader, itself or behind another one, has its full time for an answer. */
  #untilOf({ since, until, electedBy }: Omit<TimedAppend, 'known'>): number {
    const { connection, bounds } = this.#deps;
    if (!connection.lackedLeaderSince(since)) return until;
    return Math.min(electedBy, Math.max(until, performance.now() + bounds.answerMs));
  }
}
