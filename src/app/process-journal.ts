import { parseProcessId } from '../domain/shared/process-id.js';
import { Rejection } from '../domain/shared/rejection.js';
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import type { ProcessRef } from '../ports/process-engine.js';
import type { AnyProcess } from '../../workflows/process.js';
import type { PlacedEvent } from './lane.js';

/** How many events of the stream are searched for the first event of a process before it counts as unknown. */
export const FIRST_EVENT_SEARCH = 2_000;
const PAGE = 500;
/** How many steps may wait for one process. */
export const STEPS_WAITING = 64;
/** How many processes' states are kept in memory. */
export const INSTANCES_KEPT = 50_000;

/** A process as its recorded events leave it; `sequence` counts them. */
export type Instance = { readonly state: { readonly name: string }; readonly sequence: number };

/** Reads processes out of their streams, and remembers the recent ones. */
export class ProcessJournal {
  readonly #events: EventStore;
  readonly #instances = new Map<string, Instance>();
  readonly #lines = new Map<string, { tail: Promise<unknown>; waiting: number }>();

  constructor(events: EventStore) {
    this.#events = events;
  }

  /**
   * Runs one step of a process at a time: two that both decided from the same state would both be recorded, since a lane sends appends ahead.
   * @throws Rejection BUSY when STEPS_WAITING wait already.
   */
  async inTurn<T>(id: string, step: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(id) ?? { tail: Promise.resolve(), waiting: 0 };
    if (line.waiting >= STEPS_WAITING) throw new Rejection('BUSY', { retryAfter: 1 });
    line.waiting += 1;
    this.#lines.set(id, line);
    const mine = line.waiting === 1 ? step() : line.tail.then(step);
    line.tail = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      line.waiting -= 1;
      if (line.waiting === 0) this.#lines.delete(id);
    }
  }

  async load(process: AnyProcess, ref: ProcessRef): Promise<Instance> {
    const known = this.#instances.get(keyOf(ref));
    if (known !== undefined) return known;
    const loaded = await this.#read(process, ref);
    if (loaded.sequence > 0) this.#keep(ref, loaded);
    return loaded;
  }

  /** Folds newly recorded events behind what is known. */
  recorded(process: AnyProcess, ref: ProcessRef, before: Instance, events: readonly PlacedEvent[]): Instance {
    const after = fold(process, ref, before, events);
    this.#keep(ref, after);
    return after;
  }

  /** The next `load` reads the stream again. */
  forget(ref: ProcessRef): void {
    this.#instances.delete(keyOf(ref));
  }

  #keep(ref: ProcessRef, instance: Instance): void {
    this.#instances.delete(keyOf(ref));
    this.#instances.set(keyOf(ref), instance);
    if (this.#instances.size <= INSTANCES_KEPT) return;
    const [oldest] = this.#instances.keys();
    if (oldest !== undefined) this.#instances.delete(oldest);
  }

  /** Reads forwards from the revision that the id carries, until the process is over or the stream ends. */
  async #read(process: AnyProcess, ref: ProcessRef): Promise<Instance> {
    let instance: Instance = { state: process.initial as Instance['state'], sequence: 0 };
    const start = parseProcessId(ref.id)?.revision;
    if (start === undefined) return instance;
    for (let from = start; ; from += PAGE) {
      const { events } = await this.#events.read(ref.stream, { direction: 'forwards', from, limit: PAGE });
      instance = fold(process, ref, instance, events);
      const searched = from + PAGE - start;
      if (events.length < PAGE || process.over(instance.state)) return instance;
      if (instance.sequence === 0 && searched >= FIRST_EVENT_SEARCH) return instance;
    }
  }
}

/** The stream belongs to it: an id that stands in another tenant's stream names nothing here. */
const keyOf = ({ stream, id }: ProcessRef): string => `${stream} ${id}`;

const fold = (
  process: AnyProcess,
  ref: ProcessRef,
  before: Instance,
  events: readonly (PlacedEvent | RecordedEvent)[],
): Instance => {
  let { state, sequence } = before;
  for (const event of events) {
    if (!process.owns(ref.id, event)) continue;
    state = process.evolve(state, event) as Instance['state'];
    sequence += 1;
  }
  return { state, sequence };
};
