import { LRUCache } from 'lru-cache';

import { parseProcessId } from '../crypto/process-id.js';
import { weightOf } from '../base/weight.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { processKey, type ProcessRef } from '../../ports/process-runtime.js';
import type { AnyStateMachine } from './state-machine.js';
import type { StreamEvent } from '../streams/fold.js';
import { KeyedMutex } from '../concurrency/keyed-mutex.js';
import { FIRST_EVENT_SEARCH } from '../streams/first-event-search.js';
import { pagesOf } from '../streams/stream-pages.js';
import { defined } from '../base/defined.js';

/** How long after its id was made a process may record its first event, in milliseconds. Later events are not searched. */
const FIRST_EVENT_WITHIN_MS = 600_000;
/** How much memory the states of processes may use, in bytes as `weightOf` counts; the least recently used are evicted first. */
export const INSTANCES_BYTES = 256 * 1024 * 1024;

/** A process folded from its recorded events. `sequence` counts them; `through` is the last revision of the stream that was read. */
export type Instance = {
  readonly state: { readonly name: string };
  readonly sequence: number;
  readonly through: number;
  /** The approximate memory use of its state: the weight of its events. */
  readonly bytes: number;
  /** For a process without events: the commands that began another process of its kind. */
  readonly rivals: readonly string[];
  /** Whether every event of it was recorded by this process, so that none comes from the store. */
  readonly held: boolean;
};

/** Reads processes from their streams, and caches the recent ones. */
export class ProcessRepository {
  readonly #events: EventStore;
  readonly #shared: boolean;
  readonly #instances: LRUCache<string, Instance>;
  readonly #mutex = new KeyedMutex();
  readonly #listeners: ((stream: string, events: readonly StreamEvent[]) => void)[] = [];

  /**
   * @param shared whether other programs write these streams too. The cache is then brought up to the stream's end before each answer. A process
   *   that writes alone needs no such read.
   */
  constructor(
    events: EventStore,
    { shared = false, bytes = INSTANCES_BYTES }: { readonly shared?: boolean; readonly bytes?: number } = {},
  ) {
    this.#events = events;
    this.#shared = shared;
    this.#instances = new LRUCache({ maxSize: bytes, sizeCalculation: (instance) => instance.bytes });
  }

  /**
   * Runs one step of a process at a time. A writer pipelines its appends, so two steps decided from the same state would both be recorded.
   * @throws Rejection BUSY if too many already wait
   */
  runExclusive<T>(id: string, step: () => Promise<T>): Promise<T> {
    return this.#mutex.runExclusive(id, step);
  }

  /** The process as last seen, without the read of `load`; others may have written since. */
  remembered(ref: ProcessRef): Instance | undefined {
    return this.#shared ? this.#instances.get(processKey(ref)) : undefined;
  }

  /**
   * The current process. If it is over, newer events are read only up to `atLeast`: no answer depends on them.
   * @param tail the end of the stream that the caller has just read; if it holds everything that is missing, nothing is read again
   */
  async load(process: AnyStateMachine, ref: ProcessRef, atLeast = -1, tail?: StreamTail): Promise<Instance> {
    const known = this.#instances.get(processKey(ref));
    const current = known !== undefined && (!this.#shared || process.over(known.state));
    if (current && known.through >= atLeast) return known;
    const loaded =
      (tail === undefined ? null : foldTail(process, ref, known, tail)) ??
      (await this.#read(process, ref, { known, atLeast }));
    if (loaded.sequence > 0) this.#keep(ref, loaded);
    return loaded;
  }

  /** The process as it was after this revision of its stream; nothing is cached. */
  at(process: AnyStateMachine, ref: ProcessRef, revision: number): Promise<Instance> {
    return this.#read(process, ref, { to: revision });
  }

  /** Calls `listener` with the events of each step that this process records, before the step is answered. */
  onRecorded(listener: (stream: string, events: readonly StreamEvent[]) => void): void {
    this.#listeners.push(listener);
  }

  /** Folds newly recorded events onto the cached process. */
  recorded(process: AnyStateMachine, ref: ProcessRef, before: Instance, events: readonly StreamEvent[]): Instance {
    for (const listener of this.#listeners) listener(ref.stream, events);
    const after = fold(process, ref, before, events);
    this.#keep(ref, after);
    return after;
  }

  /**
   * Whether the process as of a revision of its stream is in memory as this process recorded it. Never where other programs write too: what they
   * recorded is read.
   */
  isHeld(ref: ProcessRef, revision: number): boolean {
    const known = this.#shared ? undefined : this.#instances.peek(processKey(ref));
    return known?.held === true && known.sequence > 0 && known.through >= revision;
  }

  /** Makes the next `load` read the stream again. */
  forget(ref: ProcessRef): void {
    this.#instances.delete(processKey(ref));
  }

  /** Caches an instance. A slow read must not restore a state that a step has replaced meanwhile. */
  #keep(ref: ProcessRef, instance: Instance): void {
    const known = this.#instances.peek(processKey(ref));
    if (known === undefined || known.through <= instance.through) this.#instances.set(processKey(ref), instance);
  }

  /** Reads forwards until the process is over or the stream ends. Starts at what is cached, or at the revision that the id carries. */
  async #read(
    process: AnyStateMachine,
    ref: ProcessRef,
    {
      known,
      atLeast = -1,
      to,
    }: { readonly known?: Instance | undefined; readonly atLeast?: number; readonly to?: number },
  ): Promise<Instance> {
    const made = parseProcessId(ref.id);
    const start = made?.revision ?? 0;
    const initial = initialAt(process, start);
    if (made === null) return initial;
    const latest = new Date(made.timeMs + FIRST_EVENT_WITHIN_MS).toISOString();
    let instance: Instance = known ?? initial;
    const range = { direction: 'forwards', from: instance.through + 1, ...defined({ to }) } as const;
    for await (const { events } of pagesOf(this.#events, ref.stream, range)) {
      instance = fromStore(instance, fold(process, ref, instance, events));
      if (process.over(instance.state) && instance.through >= atLeast) break;
      const searched = instance.through + 1 - start;
      const tooFar = searched >= FIRST_EVENT_SEARCH || (events.at(-1)?.meta.at ?? '') > latest;
      if (instance.sequence === 0 && tooFar && instance.through >= atLeast) break;
    }
    return instance;
  }
}

/** The last events of a stream, oldest first and without a gap, up to `through`, which was its end when they were read. */
export type StreamTail = { readonly events: readonly StreamEvent[]; readonly through: number };

/** The process up to the end of the tail; null if events are missing between what is cached and the tail. */
const foldTail = (
  process: AnyStateMachine,
  ref: ProcessRef,
  known: Instance | undefined,
  { events, through }: StreamTail,
): Instance | null => {
  const start = parseProcessId(ref.id)?.revision;
  if (start === undefined) return null;
  const before = known ?? initialAt(process, start);
  if (before.through < through - events.length) return null;
  const missing = events.filter(({ revision }) => revision > before.through);
  const after = fromStore(before, fold(process, ref, before, missing));
  // Only the stream itself can show that a process does not exist.
  return after.sequence === 0 ? null : { ...after, through: Math.max(before.through, through) };
};

const initialAt = (process: AnyStateMachine, start: number): Instance => ({
  state: process.initial as Instance['state'],
  sequence: 0,
  through: start - 1,
  bytes: INSTANCE_BYTES,
  rivals: [],
  held: true,
});

/** What was read from the store is not held. */
const fromStore = (before: Instance, after: Instance): Instance =>
  after.sequence === before.sequence ? after : { ...after, held: false };

/** The memory use of an instance in addition to its events, in bytes. */
const INSTANCE_BYTES = 512;

const fold = (
  process: AnyStateMachine,
  ref: ProcessRef,
  before: Instance,
  events: readonly (StreamEvent | RecordedEvent)[],
): Instance => {
  let { state, sequence, bytes } = before;
  const rivals: string[] = [];
  for (const event of events) {
    if (!process.owns(ref.id, event)) {
      const { commandId, process: mark } = event.meta;
      if (sequence === 0 && mark !== undefined && mark.name === process.name && mark.id !== ref.id)
        rivals.push(commandId);
      continue;
    }
    state = process.evolve(state, event) as Instance['state'];
    sequence += 1;
    bytes += weightOf(event.data);
  }
  return {
    state,
    sequence,
    bytes,
    through: Math.max(before.through, events.at(-1)?.revision ?? -1),
    rivals: sequence === 0 ? [...before.rivals, ...rivals] : [],
    held: before.held,
  };
};
