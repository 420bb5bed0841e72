import { schemaVersionOf } from '../../domain/event-kinds.js';
import type { CommandContext } from '../../domain/shared/command-context.js';
import { jcs, type JsonObject } from '../../domain/shared/json.js';
import { derivedUuid } from '../../domain/shared/uuid.js';
import type { Clock } from '../../ports/clock.js';
import type { AppendOutcome, EventStore, ProcessMark } from '../../ports/event-store.js';
import { sha256Hex } from '../../domain/shared/sha256.js';
import { firstHead, type Fold, type Head, nextHead, type Place, type PlacedEvent } from './fold.js';
import { foldOn, foldStream, type StreamSource } from './fold-stream.js';
import { hashedText } from './hash-chain.js';
import { withoutSnapshots } from './snapshotting.js';

/** What a decider emits; `place` makes an event of it. */
export type EventDraft = { readonly type: string; readonly data: JsonObject; readonly process?: ProcessMark };

/**
 * The one place in this process that puts events at the end of one stream. It knows the head. Where this process writes alone, it can send several
 * appends ahead without conflict. A failed append throws away everything placed after it, back to the last confirmed head.
 */
export class Lane<State> {
  readonly stream: string;
  readonly #store: EventStore;
  readonly #clock: Clock;
  readonly #fold: Fold<State>;
  readonly #source: StreamSource;
  readonly #onGrown: (grown: number) => boolean;
  /** A known beginning of the stream: read from the store, or written by this lane. */
  #confirmed: Head<State>;
  #head: Head<State>;
  #readRevision = -1;
  /** Whether `#head` is where the stream ends, as far as this lane can tell. */
  #known = false;
  #retired = false;
  #loading: Promise<void> | null = null;
  #reading: Promise<Head<State>> | null = null;
  #readingNext: Promise<Head<State>> | null = null;
  #inFlight = 0;
  /** What was added to the state since it was last weighed, in characters of JSON. */
  #grown = 0;
  /** Whether the last append that was sent is written. */
  #last: Promise<boolean> = Promise.resolve(true);
  #idle: (() => void)[] = [];

  /** @param onGrown told what was added since it last returned true, in characters of JSON */
  constructor(
    stream: string,
    fold: Fold<State>,
    store: EventStore,
    clock: Clock,
    onGrown: (grown: number) => boolean = () => true,
    snapshots = withoutSnapshots,
  ) {
    this.stream = stream;
    this.#store = store;
    this.#clock = clock;
    this.#fold = fold;
    this.#source = { events: store, snapshots };
    this.#onGrown = onGrown;
    this.#confirmed = firstHead(fold);
    this.#head = this.#confirmed;
  }

  /** The state with everything placed so far, including what is still being written. Valid after `load`. */
  get state(): State {
    return this.#head.state;
  }

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

  /** The last event that was read from the store, -1 when none was. Every event after it was written through this lane. */
  get readRevision(): number {
    return this.#readRevision;
  }

  /** Whether an append is in flight. */
  get writing(): boolean {
    return this.#inFlight > 0;
  }

  /** Makes sure that the head is known. Reads only what is new since the last confirmed event. */
  async load(): Promise<void> {
    while (!this.#known) await (this.#loading ??= this.#load().finally(() => (this.#loading = null)));
  }

  /** Ends this lane: it writes nothing any more, and another lane can take the stream. Appends in flight still finish. */
  retire(): void {
    this.#retired = true;
  }

  /** Resolves when nothing is being written. Everything placed before is then confirmed or thrown away. */
  async settled(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Waits until all that was placed so far is written. False: some of it was thrown away, and with it the state. */
  async confirmed(): Promise<boolean> {
    return this.#inFlight === 0 ? this.#known : this.#last;
  }

  /**
   * The stream's state with everything that any writer appended before this call. Appends go on meanwhile. A read under way may have missed what was
   * appended since it began. Callers that arrive during a read wait for the next one, and all of them share it.
   */
  latest(): Promise<Place<State>> {
    if (this.#reading === null) return this.#read();
    return (this.#readingNext ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#readingNext = null;
        return this.#read();
      }));
  }

  /**
   * Makes events of drafts, to follow the head. `timeMs` leads their ids, so that those of one process insert in order. The head stays as it is until
   * `append`.
   */
  place(drafts: readonly EventDraft[], context: CommandContext, timeMs: number): readonly PlacedEvent[] {
    const now = this.#clock.now().toISOString();
    let { revision, hash, at } = this.#head;
    return drafts.map((draft) => {
      revision += 1;
      if (now > at) at = now;
      const meta = { ...context, schemaVersion: schemaVersionOf(draft.type), at, prevHash: hash };
      const dataText = jcs(draft.data);
      this.#grown += dataText.length;
      const text = hashedText({ stream: this.stream, revision, type: draft.type, meta }, dataText);
      // The id covers all that the hash covers. A store that recognises repeats by id can then never take one version of an event for another.
      const id = derivedUuid(timeMs, text.withoutId);
      hash = sha256Hex(text.withId(id));
      const mark = draft.process === undefined ? {} : { process: draft.process };
      return {
        stream: this.stream,
        revision,
        id,
        type: draft.type,
        data: draft.data,
        meta: { ...meta, hash, ...mark },
      };
    });
  }

  /**
   * Writes placed events. Nothing may be awaited between `place` and this call. If the head was thrown away meanwhile, nothing is sent and the
   * outcome is a conflict.
   */
  async append(events: readonly PlacedEvent[]): Promise<AppendOutcome> {
    if (!this.#known || this.#retired) return this.#refused();
    const before = this.#head;
    const heads = headsBehind(this.#fold, before, events);
    const after = heads.at(-1) ?? before;
    const sent = this.#send(before.revision, events);
    this.#head = after;
    this.#inFlight += 1;
    this.#last = sent.then(
      ({ ok }) => ok,
      () => false,
    );
    let written = false;
    try {
      const outcome = await sent;
      written = outcome.ok;
      return outcome;
    } finally {
      this.#inFlight -= 1;
      if (written && after.revision > this.#confirmed.revision) this.#confirmed = after;
      if (written) this.#written(heads);
      else this.#known = false;
      if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /**
   * Where others write too, an append waits for the one before it. If the first were refused, a foreign event could take its place. The second would
   * then be accepted after an event that it does not follow from.
   */
  #send(head: number, events: readonly PlacedEvent[]): Promise<AppendOutcome> {
    const send = () => this.#store.append(this.stream, head < 0 ? 'no_stream' : head, events);
    if (this.#inFlight === 0 || this.#store.soleWriter === true) return send();
    return this.#last.then((written) => (written ? send() : this.#refused()));
  }

  #written(heads: readonly Head<State>[]): void {
    this.#tellGrown();
    for (const head of heads) this.#source.snapshots.passed(this.stream, this.#fold, head);
  }

  #tellGrown(): void {
    if (this.#onGrown(this.#grown)) this.#grown = 0;
  }

  #refused(): AppendOutcome {
    return { ok: false, actual: this.#confirmed.revision };
  }

  async #load(): Promise<void> {
    await this.settled();
    await this.latest();
    this.#head = this.#confirmed;
    this.#known = true;
  }

  #read(): Promise<Head<State>> {
    const reading = this.#readOn()
      .then((read) => this.#adopt(read))
      .finally(() => {
        if (this.#reading === reading) this.#reading = null;
      });
    this.#reading = reading;
    return reading;
  }

  /** Takes in what was read, unless something is in flight: the outcome of that shows whether another writer was faster. */
  #adopt(read: Head<State>): Head<State> {
    if (read.revision <= this.#confirmed.revision) return this.#confirmed;
    if (this.#inFlight > 0) return read;
    this.#confirmed = read;
    this.#head = read;
    this.#readRevision = read.revision;
    // How much was read is not counted.
    this.#grown = Infinity;
    this.#tellGrown();
    return read;
  }

  /** A snapshot is worth asking for only while nothing is known of the stream. */
  #readOn(): Promise<Head<State>> {
    return this.#known || this.#confirmed.revision >= 0
      ? foldOn(this.#source, this.stream, this.#fold, this.#confirmed)
      : foldStream(this.#source, this.stream, this.#fold);
  }
}

/** The head after each of the events. */
const headsBehind = <State>(
  fold: Fold<State>,
  before: Head<State>,
  events: readonly PlacedEvent[],
): readonly Head<State>[] => {
  let head = before;
  return events.map((event) => (head = nextHead(fold, head, event)));
};
