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

/** A process as its recorded events leave it; `sequence` counts them, `through` is the last revision of the stream that was looked at. */
export type Instance = {
  readonly state: { readonly name: string };
  readonly sequence: number;
  readonly through: number;
  /** Of a process that has no event yet: the commands behind which another of its kind has begun. */
  readonly rivals: readonly string[];
};

/** Reads processes out of their streams, and remembers the recent ones. */
export class ProcessJournal {
  readonly #events: EventStore;
  readonly #shared: boolean;
  readonly #instances = new Map<string, Instance>();
  readonly #lines = new Map<string, { tail: Promise<unknown>; waiting: number }>();

  /**
   * @param shared whether other programs write these streams too: what is remembered is then read on to the stream's end before it is
   * answered from. One who writes alone needs no such read.
   */
  constructor(events: EventStore, { shared = false }: { readonly shared?: boolean } = {}) {
    this.#events = events;
    this.#shared = shared;
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

  /** The process as it was last seen, where reading on would ask the store; others may have written since. */
  remembered(ref: ProcessRef): Instance | undefined {
    return this.#shared ? this.#instances.get(keyOf(ref)) : undefined;
  }

  /** The process as it stands; of one that is over, what was added since only up to `atLeast`, since no answer depends on it. */
  async load(process: AnyProcess, ref: ProcessRef, atLeast = -1): Promise<Instance> {
    const known = this.#instances.get(keyOf(ref));
    const current = known !== undefined && (!this.#shared || process.over(known.state));
    if (current && known.through >= atLeast) return known;
    const loaded = await this.#read(process, ref, { known, atLeast });
    if (loaded.sequence > 0) this.#keep(ref, loaded);
    return loaded;
  }

  /** The process as it stood after this revision of its stream; nothing is remembered. */
  at(process: AnyProcess, ref: ProcessRef, revision: number): Promise<Instance> {
    return this.#read(process, ref, { to: revision });
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

  /** A slow read must not bring back what a step has left behind meanwhile. */
  #keep(ref: ProcessRef, instance: Instance): void {
    const key = keyOf(ref);
    const known = this.#instances.get(key);
    this.#instances.delete(key);
    this.#instances.set(key, known !== undefined && known.through > instance.through ? known : instance);
    if (this.#instances.size <= INSTANCES_KEPT) return;
    const [oldest] = this.#instances.keys();
    if (oldest !== undefined) this.#instances.delete(oldest);
  }

  /** Reads forwards, from what is known or from the revision that the id carries, until the process is over or the stream ends. */
  async #read(
    process: AnyProcess,
    ref: ProcessRef,
    {
      known,
      atLeast = -1,
      to,
    }: { readonly known?: Instance | undefined; readonly atLeast?: number; readonly to?: number },
  ): Promise<Instance> {
    const start = parseProcessId(ref.id)?.revision;
    const initial = {
      state: process.initial as Instance['state'],
      sequence: 0,
      through: (start ?? 0) - 1,
      rivals: [],
    };
    if (start === undefined) return initial;
    for (let instance: Instance = known ?? initial; ;) {
      const from = instance.through + 1;
      const range = { direction: 'forwards', from, limit: PAGE, ...(to === undefined ? {} : { to }) } as const;
      const { events } = await this.#events.read(ref.stream, range);
      instance = fold(process, ref, instance, events);
      if (events.length < PAGE || (process.over(instance.state) && instance.through >= atLeast)) return instance;
      if (instance.sequence === 0 && from + PAGE - start >= FIRST_EVENT_SEARCH) return instance;
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
  }
  return {
    state,
    sequence,
    through: Math.max(before.through, events.at(-1)?.revision ?? -1),
    rivals: sequence === 0 ? [...before.rivals, ...rivals] : [],
  };
};
