import type { CommandContext } from '../base/command-context.js';
import { Rejection } from '../base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { AppendOutcome, EventStore } from '../../ports/event-store.js';
import { firstHead, type Fold, type Head, nextHead, type Place, type StreamEvent } from './fold.js';
import { foldOn, foldStream, type StreamSource } from './fold-stream.js';
import type { Seals } from '../crypto/seals.js';
import { freshFlight } from '../concurrency/fresh-flight.js';
import { type DraftToPlace, placeEvents } from './place-events.js';
import { type Snapshotting, withoutSnapshots } from './snapshotting.js';

/**
 * The events that were recorded, the state after them, and the global position of the last one. `earlier`: another attempt recorded them, and they
 * were read from the store.
 */
export type Recorded<State> = Place<State> & {
  readonly events: readonly StreamEvent[];
  readonly position: number;
  readonly earlier?: true;
};

/**
 * Makes the claim that a change of this stream needs (Fold.claims), on behalf of the command that changes it. It is made before the change, and may be
 * made again.
 * @throws Rejection if the change must not be made
 */
export type Claim = (stream: string, before: Place<unknown>, by: CommandContext) => Promise<void>;

export type StreamWriterOptions = {
  /** Where the folding of a long stream begins. */
  readonly snapshots?: Snapshotting;
  /** Whether other programs write this stream too. */
  readonly shared?: boolean;
  /** Called with how much the state has grown, in characters of JSON; Infinity if that is not counted. */
  readonly onGrown?: (chars: number) => void;
  readonly claim?: Claim;
  /** Seals what is appended. */
  readonly seals?: Seals;
};

/**
 * The only code in this process that appends events to one stream.
 *
 * A caller loads the writer, decides on its state, and appends, with nothing awaited between the decision and the append: its events then follow from
 * exactly what precedes them. An append moves the head immediately, so the next caller decides behind it while it is still being written. If this
 * process writes alone, several appends are pipelined. If one fails, everything behind it is discarded: the head returns to what is confirmed, and
 * the next `load` reads what others wrote.
 */
export class StreamWriter<State> {
  readonly stream: string;
  readonly #store: EventStore;
  readonly #clock: Clock;
  readonly #fold: Fold<State>;
  readonly #source: StreamSource;
  readonly #shared: boolean;
  readonly #onGrown: (chars: number) => void;
  readonly #claim: Claim;
  readonly #seals: Seals | undefined;
  /** The revision at which the last claim was made. */
  #claimedAt = -1;
  readonly #readOn = freshFlight(() => this.#read());
  /** The last head known to be durable: read from the store, or written by this writer. */
  #confirmed: Head<State>;
  /** The confirmed head plus everything that is still being written. */
  #head: Head<State>;
  /** Whether `#head` is the end of the stream, to this writer's knowledge. */
  #known = false;
  #loading: Promise<void> | null = null;
  #readRevision = -1;
  #inFlight = 0;
  /** Whether the last append that was sent is written. */
  #last: Promise<boolean> = Promise.resolve(true);
  #idle: (() => void)[] = [];
  #retired = false;

  constructor(
    stream: string,
    fold: Fold<State>,
    store: EventStore,
    clock: Clock,
    {
      snapshots = withoutSnapshots,
      shared = false,
      onGrown = () => undefined,
      claim = () => Promise.resolve(),
      seals,
    }: StreamWriterOptions = {},
  ) {
    this.stream = stream;
    this.#fold = fold;
    this.#store = store;
    this.#clock = clock;
    this.#source = { events: store, snapshots };
    this.#shared = shared;
    this.#onGrown = onGrown;
    this.#claim = claim;
    this.#seals = seals;
    this.#confirmed = firstHead(fold);
    this.#head = this.#confirmed;
  }

  /** Ensures that the head is known. Reads only what is new since the last confirmed event. @throws what the event store throws */
  async load(): Promise<void> {
    while (!this.#known) await (this.#loading ??= this.#load().finally(() => (this.#loading = null)));
  }

  /** The state to decide on: includes everything placed so far, even what is still being written. Valid after `load`. */
  get state(): State {
    return this.#head.state;
  }

  /** The revision of that state. */
  get revision(): number {
    return this.#head.revision;
  }

  /** The last state that is known to be durable. */
  get confirmedState(): State {
    return this.#confirmed.state;
  }

  /** The last revision that is known to be durable. */
  get confirmedRevision(): number {
    return this.#confirmed.revision;
  }

  /** The last event that was read from the store, -1 when none was. Every event after it was written through this writer. */
  get readRevision(): number {
    return this.#readRevision;
  }

  /** Whether the state lets only another command write (Fold.heldFor). */
  isHeldFrom(context: CommandContext): boolean {
    return isHeldFrom(this.#fold, this.state, context);
  }

  /** @throws Rejection SOUL_ARRIVING if the stream's latest state, too, lets only another command write; what the event store throws */
  async requireFree(context: CommandContext): Promise<void> {
    // What this process has read of the stream may be out of date.
    const { state } = this.#shared ? await this.latest() : this.#head;
    if (isHeldFrom(this.#fold, state, context)) throw new Rejection('SOUL_ARRIVING', { retryAfter: 1 });
  }

  /**
   * Puts events behind the head and writes them.
   * @param timeMs leads the ids of the events, in milliseconds since the epoch
   * @returns null if they were not written: another writer was faster, the head was discarded, or a claim came first. The caller decides again
   * @throws what the claim throws; what the event store throws: only the stream can then show whether they were written
   */
  async append(
    drafts: readonly DraftToPlace[],
    context: CommandContext,
    timeMs: number,
  ): Promise<Recorded<State> | null> {
    if (!this.#known || this.#retired) return null;
    const before = this.#head;
    const place = { stream: this.stream, fold: this.#fold, head: before, seals: this.#seals };
    const { events, chars } = placeEvents(drafts, place, context, { now: this.#clock.now().toISOString(), timeMs });
    const heads = headsBehind(this.#fold, before, events);
    const after = heads.at(-1) ?? before;
    if (this.#claimedAt !== before.revision && this.#fold.claims?.(before.state, after.state) === true) {
      await this.#claim(this.stream, before, context);
      this.#claimedAt = before.revision;
      return null;
    }
    const sent = this.#send(before.revision, events);
    this.#head = after;
    this.#inFlight += 1;
    this.#last = sent.then(
      (outcome) => outcome.ok,
      () => false,
    );
    let written = false;
    try {
      const outcome = await sent;
      written = outcome.ok;
      if (!outcome.ok) return null;
      return { events, state: after.state, revision: after.revision, position: outcome.position };
    } finally {
      this.#inFlight -= 1;
      if (written && after.revision > this.#confirmed.revision) this.#confirmed = after;
      if (!written) this.#known = false;
      else {
        this.#onGrown(chars);
        for (const head of heads) this.#source.snapshots.passed(this.stream, this.#fold, head);
      }
      if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /** Waits until everything placed so far is written. False: some of it was discarded, and the state with it. */
  async confirmed(): Promise<boolean> {
    return this.#inFlight === 0 ? this.#known : this.#last;
  }

  /**
   * The state behind an answer that records nothing: the one that was `seen` in this writer, once it is durable; if other programs write too, the
   * latest one. Null: what was seen was discarded.
   * @throws what the event store throws
   */
  async durable(seen: Place<State>): Promise<Place<State> | null> {
    if (this.#shared) return this.latest();
    return (await this.confirmed()) ? seen : null;
  }

  /**
   * The stream's state with everything that any writer appended before this call. Appends continue meanwhile. Callers share their reads.
   * @throws what the event store throws
   */
  latest(): Promise<Place<State>> {
    return this.#readOn();
  }

  /** Whether an append is in flight. */
  get writing(): boolean {
    return this.#inFlight > 0;
  }

  /** Resolves when nothing is being written. Everything placed before is then confirmed or discarded. */
  async settled(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Ends this writer: it writes nothing more, and another writer can take over the stream. Appends in flight still finish. */
  retire(): void {
    this.#retired = true;
  }

  async #load(): Promise<void> {
    await this.settled();
    await this.latest();
    this.#head = this.#confirmed;
    this.#known = true;
  }

  /** Reads the stream to its end. A snapshot is worth requesting only while nothing is known of the stream. */
  async #read(): Promise<Head<State>> {
    const isNew = !this.#known && this.#confirmed.revision < 0;
    const read = isNew
      ? await foldStream(this.#source, this.stream, this.#fold)
      : await foldOn(this.#source, this.stream, this.#fold, this.#confirmed);
    if (read.revision <= this.#confirmed.revision) return this.#confirmed;
    // The outcome of the appends in flight shows whether another writer was faster.
    if (this.#inFlight > 0) return read;
    this.#confirmed = read;
    this.#head = read;
    this.#readRevision = read.revision;
    this.#onGrown(Infinity);
    return read;
  }

  /**
   * If others write too, an append waits for the previous one. If the first were refused, a foreign event could take its revision, and the second
   * would be accepted after an event that it does not follow from.
   */
  #send(head: number, events: readonly StreamEvent[]): Promise<AppendOutcome> {
    const send = () => this.#store.append(this.stream, head < 0 ? 'no_stream' : head, events);
    if (this.#inFlight === 0 || this.#store.soleWriter === true) return send();
    return this.#last.then((written) => (written ? send() : { ok: false, actual: this.#confirmed.revision }));
  }
}

const isHeldFrom = <State>(fold: Fold<State>, state: State, { commandId }: CommandContext): boolean => {
  const holder = fold.heldFor?.(state) ?? null;
  return holder !== null && holder !== commandId;
};

/** The head after each of the events. */
const headsBehind = <State>(
  fold: Fold<State>,
  before: Head<State>,
  events: readonly StreamEvent[],
): readonly Head<State>[] => {
  let head = before;
  return events.map((event) => (head = nextHead(fold, head, event)));
};
