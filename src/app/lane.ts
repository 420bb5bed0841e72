import { jcs, type JsonObject } from '../domain/shared/json.js';
import { derivedUuid } from '../domain/shared/uuid.js';
import type { Clock } from '../ports/clock.js';
import type { AppendOutcome, EventStore, ProcessMark, RecordedEvent } from '../ports/event-store.js';
import { GENESIS_HASH, hashInput, sha256 } from './hash-chain.js';

/** What a decider emits; placing makes an event of it. */
export type Draft = { readonly type: string; readonly data: JsonObject; readonly process?: ProcessMark };

/** On whose behalf events are recorded. */
export type CommandContext = {
  readonly tenant: string;
  /** The key id, or `system`. */
  readonly actor: string;
  readonly commandId: string;
  readonly correlationId: string;
  readonly causationId: string | null;
};

/** What event ids are derived from: the same `scope`, `sequence` and content make the same id (design: ids carry the content). */
export type IdScope = { readonly scope: string; readonly timeMs: number; readonly sequence: number };

/** An event with its place in the stream, before or after it is written. */
export type PlacedEvent = Omit<RecordedEvent, 'position'>;

/** How a stream's state is folded. States are immutable, so that a lane can go back to the last confirmed one. */
export interface Fold<State> {
  readonly initial: State;
  evolve(state: State, event: PlacedEvent): State;
}

type Head<State> = { readonly revision: number; readonly hash: string; readonly at: string; readonly state: State };

/** How many events one page of loading reads. */
const LOAD_PAGE = 512;
const SCHEMA_VERSION = 1;

/**
 * The one place in this process where events are put at the end of one stream. It knows the head, so that appends can be sent ahead of each
 * other without conflict where this process writes alone; a failed append throws everything placed behind it back to the last confirmed head.
 */
export class Lane<State> {
  readonly stream: string;
  readonly #store: EventStore;
  readonly #clock: Clock;
  readonly #fold: Fold<State>;
  #confirmed: Head<State>;
  #head: Head<State>;
  #readThrough = -1;
  #loaded = false;
  #loading: Promise<void> | null = null;
  #inFlight = 0;
  /** Whether the append sent last was written. */
  #last: Promise<boolean> = Promise.resolve(true);
  #idle: (() => void)[] = [];

  constructor(stream: string, fold: Fold<State>, store: EventStore, clock: Clock) {
    this.stream = stream;
    this.#store = store;
    this.#clock = clock;
    this.#fold = fold;
    this.#confirmed = { revision: -1, hash: GENESIS_HASH, at: '', state: fold.initial };
    this.#head = this.#confirmed;
  }

  /** The state with everything placed so far, also what is still being written. Valid after `load`. */
  get state(): State {
    return this.#head.state;
  }

  get revision(): number {
    return this.#head.revision;
  }

  /** The state that is known to be durable. */
  get confirmedState(): State {
    return this.#confirmed.state;
  }

  /** The last revision that is known to be durable. */
  get confirmedRevision(): number {
    return this.#confirmed.revision;
  }

  /** The last revision that was read from the store. Whatever stands behind it was written through this lane. */
  get readRevision(): number {
    return this.#readThrough;
  }

  get busy(): boolean {
    return this.#inFlight > 0 || this.#loading !== null;
  }

  /** Makes sure that the head is known. Reads only what is new since the last confirmed event. */
  async load(): Promise<void> {
    while (!this.#loaded) await (this.#loading ??= this.#read().finally(() => (this.#loading = null)));
  }

  /** Reads what others may have appended since. */
  async refresh(): Promise<void> {
    this.#loaded = false;
    await this.load();
  }

  /** Resolves when nothing is being written: what was placed before is then confirmed or thrown back. */
  async settled(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Whether all that was placed so far is written; waits for it. False: some of it was thrown back, and so was the state that held it. */
  async confirmed(): Promise<boolean> {
    return this.#inFlight === 0 ? this.#loaded : this.#last;
  }

  /** The durable state, with what others may have appended since; changes nothing here. */
  async latest(): Promise<{ readonly state: State; readonly revision: number }> {
    const { state, revision } = await this.#readFrom(this.#confirmed);
    return { state, revision };
  }

  /** Makes events of drafts, at the head. Nothing is remembered before `append`. */
  place(drafts: readonly Draft[], context: CommandContext, ids: IdScope): readonly PlacedEvent[] {
    const now = this.#clock.now().toISOString();
    let { revision, hash, at } = this.#head;
    return drafts.map((draft, index) => {
      const dataText = jcs(draft.data);
      const id = derivedUuid(ids.timeMs, `${ids.scope}\n${String(ids.sequence + index)}\n${draft.type}\n${dataText}`);
      revision += 1;
      if (now > at) at = now;
      const meta = { ...context, schemaVersion: SCHEMA_VERSION, at, prevHash: hash };
      const unhashed = { stream: this.stream, revision, id, type: draft.type, meta };
      hash = sha256(hashInput(unhashed, dataText));
      const mark = draft.process === undefined ? {} : { process: draft.process };
      return { ...unhashed, data: draft.data, meta: { ...meta, hash, ...mark } };
    });
  }

  /** Writes placed events; between `place` and this call nothing may be awaited. */
  async append(events: readonly PlacedEvent[]): Promise<AppendOutcome> {
    const before = this.#head;
    const after = events.reduce((head, event) => this.#next(head, event), before);
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
      if (!written) this.#loaded = false;
      if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /**
   * Where others write too, an append waits for the one before it: were that one refused, a foreign event could stand where it should have
   * been, and this one would be accepted behind something that it does not follow from. So it would be when the one before it was refused
   * between this one's load and now: without a head that is known nothing is sent.
   */
  #send(head: number, events: readonly PlacedEvent[]): Promise<AppendOutcome> {
    if (!this.#loaded) return Promise.resolve({ ok: false, actual: this.#confirmed.revision });
    const send = () => this.#store.append(this.stream, head < 0 ? 'no_stream' : head, events);
    if (this.#inFlight === 0 || this.#store.soleWriter === true) return send();
    return this.#last.then((written) => (written ? send() : { ok: false, actual: this.#confirmed.revision }));
  }

  async #read(): Promise<void> {
    await this.settled();
    this.#confirmed = await this.#readFrom(this.#confirmed);
    this.#head = this.#confirmed;
    this.#readThrough = this.#head.revision;
    this.#loaded = true;
  }

  async #readFrom(known: Head<State>): Promise<Head<State>> {
    for (let head = known; ;) {
      const range = { direction: 'forwards', from: head.revision + 1, limit: LOAD_PAGE } as const;
      const { events } = await this.#store.read(this.stream, range);
      head = events.reduce((reached, event) => this.#next(reached, event), head);
      if (events.length < LOAD_PAGE) return head;
    }
  }

  #next(head: Head<State>, event: PlacedEvent): Head<State> {
    return {
      revision: event.revision,
      hash: event.meta.hash,
      at: event.meta.at,
      state: this.#fold.evolve(head.state, event),
    };
  }
}
