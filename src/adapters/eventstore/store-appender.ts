import { setTimeout as sleep } from 'node:timers/promises';

import { Rejection } from '../../domain/shared/rejection.js';
import { KeyedMutex } from '../../concurrency/keyed-mutex.js';
import type { Presence } from '../../concurrency/presence.js';
import { within } from '../shared/within.js';
import type { AppendOutcome, ExpectedRevision } from '../../ports/event-store.js';
import type { StoredEvent } from '../shared/append-rules.js';
import { BatchCall, NoAnswer } from './batch-call.js';
import { AppendFailed, type ExactAnswer } from './append-answers.js';
import type { LogHorizon } from './log-horizon.js';
import type { StoreConnection } from './store-connection.js';
import { busy, isDenied, neverSent, outcomeUnknown, refusedForGood, storeUnavailable } from './store-failures.js';
import { ELECTION_MS } from './read-each.js';
import type { StoreReader } from './store-reader.js';
import { storeIsThere } from './store-watch.js';
import type { StreamNames } from './stored-event.js';

/** Bounds of the appends of one process. One that finds them reached is refused as BUSY. */
export type AppendBounds = {
  /** Appends without an answer, and the characters of JSON in them. */
  readonly appendsInFlight: number;
  readonly textInFlight: number;
  /** How long an append may wait for its answer before it is looked up, and how long it may take in all, in milliseconds. */
  readonly answerMs: number;
  readonly appendMs: number;
  /** How long it may take while the store says that it elects a leader, in milliseconds. */
  readonly electionMs: number;
};

export const APPEND_BOUNDS: AppendBounds = {
  appendsInFlight: 2_048,
  textInFlight: 64 * 1024 * 1024,
  answerMs: 1_000,
  appendMs: 1_800,
  electionMs: ELECTION_MS,
};
/** The time between two tries to reach a store that was lost, in milliseconds. */
const LOOK_AGAIN_MS = 50;
/** How long an append that was not allowed counts against the store, in milliseconds: without traffic nothing would show that it allows them again. */
const DENIED_MS = 30_000;

type Exact = {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly StoredEvent[];
  /** Up to here positions were known before it was sent. */
  readonly known: number;
  /** When it came, when it must be answered, and when while a leader is elected; in milliseconds of the process's clock. */
  readonly since: number;
  readonly until: number;
  readonly electedBy: number;
};

const NOTHING = { ids: [], position: 0 } as const;

/** Why the last attempt at an append failed, when the first one did, and whether any of them may have been written. */
type Lost = { reason: unknown; readonly at: number; isUnknown: boolean };

const unwritten = ({ isUnknown, reason }: Lost): Rejection =>
  isUnknown ? outcomeUnknown(reason) : storeUnavailable(reason);

const isNotYet = (error: unknown): boolean => error instanceof AppendFailed && error.fate === 'notYet';

const isRefusal = (error: unknown): boolean => error instanceof Rejection && error.retryAfter === undefined;

const textOf = (events: readonly StoredEvent[]): number =>
  events.reduce((sum, { data, meta }) => sum + data.length + meta.length, 0);

/**
 * Appends over one shared batch call, in the order in which they come. The server always gets an exact revision: only then does it recognise a repeat
 * after a restart.
 *
 * When an append's answer is lost, its place is read. If its own ids are there, it succeeded; other ids are a conflict. If the place is empty, it is
 * sent again; if the first one still arrives, the server takes the second for a repeat.
 */
export class StoreAppender {
  readonly #connection: StoreConnection;
  readonly #reader: StoreReader;
  readonly #presence: Presence;
  readonly #names: StreamNames;
  readonly #horizon: LogHorizon;
  readonly #bounds: AppendBounds;
  /** By stream: appends that must go one after the other. */
  readonly #streams: KeyedMutex;
  /** By stream and first id: the server does not answer a repeat of an append that is under way. */
  readonly #appends: KeyedMutex;
  readonly #awaitingDrain: (() => void)[] = [];
  #opening: Promise<BatchCall> | null = null;
  #opened: BatchCall | null = null;
  #looking: Promise<void> | null = null;
  #denied: { readonly error: AppendFailed; readonly at: number } | null = null;
  /** When the store was last seen, in milliseconds of the process's clock. */
  #seenAt = 0;
  #inFlight = 0;
  #text = 0;

  constructor(
    connection: StoreConnection,
    { reader, presence }: { readonly reader: StoreReader; readonly presence: Presence },
    names: StreamNames,
    horizon: LogHorizon,
    bounds: AppendBounds,
  ) {
    this.#connection = connection;
    this.#reader = reader;
    this.#presence = presence;
    this.#names = names;
    this.#horizon = horizon;
    this.#bounds = bounds;
    // Each append in flight takes one place at most in either.
    this.#streams = new KeyedMutex(bounds.appendsInFlight);
    this.#appends = new KeyedMutex(bounds.appendsInFlight);
  }

  /**
   * Appends as the port says.
   * @throws Rejection BUSY over the bounds; STORE_UNAVAILABLE when the store cannot be reached in time
   */
  async append(stream: string, expected: ExpectedRevision, events: readonly StoredEvent[]): Promise<AppendOutcome> {
    const text = textOf(events);
    if (this.#inFlight >= this.#bounds.appendsInFlight || this.#text + text > this.#bounds.textInFlight) throw busy();
    this.#inFlight += 1;
    this.#text += text;
    try {
      const now = performance.now();
      const { appendMs, electionMs } = this.#bounds;
      const exact = { stream, expected, events, since: now, until: now + appendMs, electedBy: now + electionMs };
      return await this.#appends.runExclusive(`${stream}\n${events[0]?.id ?? ''}`, () =>
        this.#streams.isLocked(stream)
          ? this.#streams.runExclusive(stream, () => this.#sent(exact, 'exclusive'))
          : this.#sent(exact, 'free'),
      );
    } finally {
      this.#inFlight -= 1;
      this.#text -= text;
      if (this.#inFlight === 0) for (const drained of this.#awaitingDrain.splice(0)) drained();
    }
  }

  /** Why the store did not allow the last append; null when it did, or that was a while ago: then the next one tells. */
  get denied(): AppendFailed | null {
    return this.#denied !== null && performance.now() - this.#denied.at < DENIED_MS ? this.#denied.error : null;
  }

  /** Resolves when nothing is in flight any more, which the bounds in time make soon. */
  async drained(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#awaitingDrain.push(resolve));
  }

  /** `exclusive`: no other append of the stream is in flight, so a lost answer is settled at once. */
  async #sent(append: Omit<Exact, 'known'>, order: 'free' | 'exclusive'): Promise<AppendOutcome> {
    if (this.#presence.isAway) await storeIsThere(this.#presence);
    // With an open call there is no await before the append leaves. Appends that wait for a call go on in order.
    const call = this.#opened?.ended === false ? this.#opened : await this.#open();
    // What waited for a leader, itself or behind another one, has its time for an answer.
    const now = performance.now();
    const until = this.#connection.lackedLeaderSince(append.since)
      ? Math.min(append.electedBy, Math.max(append.until, now + this.#bounds.answerMs))
      : append.until;
    if (now > until) throw storeUnavailable();
    const exact = { ...append, until, known: this.#horizon.log };
    try {
      return await this.#taken(exact, call);
    } catch (error) {
      if (neverSent(error)) throw storeUnavailable(error);
      if (isRefusal(error)) throw error;
      const lost = { reason: error, at: performance.now(), isUnknown: !isNotYet(error) };
      const settle = (): Promise<AppendOutcome> => this.#known(exact, lost, this.#settled(exact, lost));
      // One lost connection loses many answers at once. The appends of one stream are settled in the order in which they were sent.
      return order === 'exclusive' ? settle() : this.#streams.runExclusive(exact.stream, settle);
    }
  }

  /** @throws Rejection STORE_UNAVAILABLE when the store refuses it for good, and what `#ask` throws */
  async #taken(exact: Exact, call: BatchCall): Promise<AppendOutcome> {
    try {
      const outcome = await this.#outcome(exact, await this.#ask(call, exact));
      this.#denied = null;
      return outcome;
    } catch (error) {
      if (isNotYet(error)) this.#connection.foundNoLeader();
      if (!(error instanceof AppendFailed) || error.fate !== 'refused') throw error;
      if (isDenied(error)) this.#denied = { error, at: performance.now() };
      throw refusedForGood(error);
    }
  }

  #ask(call: BatchCall, { stream, expected, events, until }: Exact): Promise<ExactAnswer> {
    const left = Math.max(1, Math.min(this.#bounds.answerMs, until - performance.now()));
    return call.append({ stream: this.#names.toServer(stream), expected, events }, left);
  }

  async #outcome(exact: Exact, answer: ExactAnswer): Promise<AppendOutcome> {
    if (answer.kind === 'conflict') return { ok: false, actual: answer.actual };
    const { revision } = answer;
    const position = answer.position ?? (await this.#placeOf(exact.stream, revision));
    this.#horizon.meet(position);
    return { ok: true, revision, position, repeated: position <= exact.known };
  }

  /** The place of an append that stands. @throws NoAnswer when it cannot be read */
  async #placeOf(stream: string, revision: number): Promise<number> {
    try {
      return (await this.#reader.idsFrom(stream, revision, 1)).position;
    } catch (cause) {
      throw Object.assign(new NoAnswer('The place of an append cannot be read.'), { cause });
    }
  }

  /** Until when an append is tried: longer where a leader is elected meanwhile. */
  #dueAt({ since, until, electedBy }: Exact): number {
    return this.#connection.lackedLeaderSince(since) ? electedBy : until;
  }

  /** The outcome, or that it is not known when the time is over. */
  async #known(exact: Exact, lost: Lost, settling: Promise<AppendOutcome>): Promise<AppendOutcome> {
    for (let due = exact.until; ; due = this.#dueAt(exact)) {
      const outcome = await within(Math.max(0, due - performance.now()), settling);
      if (outcome !== null) return outcome;
      if (due >= this.#dueAt(exact)) throw unwritten(lost);
    }
  }

  /** What became of an append whose answer was lost, or which was not taken yet. */
  async #settled(exact: Exact, lost: Lost): Promise<AppendOutcome> {
    const { stream, events, known } = exact;
    const place = exact.expected === 'no_stream' ? 0 : exact.expected + 1;
    let since = lost.at;
    while (performance.now() < this.#dueAt(exact)) {
      try {
        if (!lost.isUnknown || this.#seenAt <= since) await this.#look();
        since = performance.now();
        // What may have been written is looked up before it is sent again.
        const { ids, position } = lost.isUnknown ? await this.#reader.idsFrom(stream, place, events.length) : NOTHING;
        if (ids.length > 0 && events.every(({ id }, index) => id === ids[index]))
          return { ok: true, revision: place + ids.length - 1, position, repeated: position <= known };
        if (ids.length > 0) return { ok: false, actual: await this.#reader.lastRevision(stream) };
        const call = await this.#open();
        if (performance.now() > this.#dueAt(exact)) break;
        const wasUnknown = lost.isUnknown;
        lost.isUnknown = true;
        try {
          return await this.#taken({ ...exact, until: this.#dueAt(exact) }, call);
        } catch (error) {
          if (isNotYet(error) || isRefusal(error)) lost.isUnknown = wasUnknown;
          throw error;
        }
      } catch (error) {
        if (isRefusal(error) && !lost.isUnknown) throw error;
        lost.reason = error;
      }
    }
    throw unwritten(lost);
  }

  /** Checks whether the store can be reached: once for all callers at the same time, with a pause before the next check. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => (this.#looking = null));
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    await sleep(LOOK_AGAIN_MS);
    await this.#reader.meetEnd();
    this.#seenAt = performance.now();
  }

  /** The batch call, a new one when the last has ended. All waiting appends go on in the order in which they came. */
  #open(): Promise<BatchCall> {
    if (this.#opened?.ended === false) return Promise.resolve(this.#opened);
    if (this.#opening !== null) return this.#opening;
    const opening = this.#newCall();
    this.#opening = opening;
    opening.then(
      (call) => {
        this.#opened = call;
        this.#opening = null;
      },
      () => (this.#opening = null),
    );
    return opening;
  }

  async #newCall(): Promise<BatchCall> {
    try {
      // What is in the store when the call begins was not written by it.
      await this.#reader.meetEnd();
      const { node } = this.#connection;
      return new BatchCall(await this.#connection.openBatch(), node);
    } catch (error) {
      throw error instanceof Rejection ? error : storeUnavailable(error);
    }
  }
}
