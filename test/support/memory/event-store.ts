import type { JsonObject } from '../../../src/kernel/base/json.js';
import { READ_BYTES, untilFull } from '../../../src/kernel/base/page-size.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import type {
  AppendOutcome,
  EventMeta,
  EventStore,
  EventToAppend,
  ExpectedRevision,
  OpenProcess,
  ReadRange,
  RecordedEvent,
  StreamPage,
  Subscription,
} from '../../../src/ports/event-store.js';
import { placeAppend, rangeOf, serialise } from '../../../src/adapters/shared/append-rules.js';
import { ChangeSignal, follow } from '../../../src/adapters/shared/follow.js';

/** The event store in memory: the meaning of the port in the fewest lines. Nothing outlives it. */
export class MemoryEventStore implements EventStore {
  readonly #all: RecordedEvent[] = [];
  readonly #streams = new Map<string, RecordedEvent[]>();
  readonly #bytes = new WeakMap<RecordedEvent, number>();
  readonly #open = new Map<string, OpenProcess>();
  readonly #changes = new ChangeSignal();
  #closed = false;

  async append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendOutcome> {
    const stored = serialise(events);
    const standing = this.#read(stream);
    const view = {
      last: standing.length - 1,
      idAt: (revision: number) => standing[revision]?.id,
    };
    const ids = events.map(({ id }) => id);
    const place = placeAppend(view, expected, ids);
    if (place === 'conflict') return { ok: false, actual: view.last };
    if (place === 'write') {
      for (const { id, type, data, meta } of stored) {
        const read = { data: JSON.parse(data) as JsonObject, meta: JSON.parse(meta) as EventMeta };
        const recorded = { id, type, ...read, stream, revision: standing.length, position: this.#all.length + 1 };
        standing.push(recorded);
        this.#all.push(recorded);
        this.#bytes.set(recorded, Buffer.byteLength(data) + Buffer.byteLength(meta));
        this.#mark(recorded);
      }
      this.#streams.set(stream, standing);
      this.#changes.announce([stream]);
    }
    const revision = place === 'write' ? standing.length - 1 : place.repeatedFrom + ids.length - 1;
    return { ok: true, revision, position: standing[revision]?.position ?? 0, repeated: place !== 'write' };
  }

  async read(stream: string, range: ReadRange): Promise<StreamPage> {
    const events = this.#read(stream);
    const { lowest, highest } = rangeOf(range, events.length - 1);
    const covered = events.slice(lowest, highest + 1);
    if (range.direction === 'backwards') covered.reverse();
    return { events: this.#page(covered.slice(0, range.limit)), lastRevision: events.length - 1 };
  }

  async readAll(after: number, limit: number): Promise<readonly RecordedEvent[]> {
    this.#assertOpen();
    // The first position is 1, and none is left out.
    return this.#page(this.#all.slice(Math.max(after, 0), Math.max(after, 0) + limit));
  }

  async lastPosition(): Promise<number> {
    this.#assertOpen();
    return this.#all.length;
  }

  subscribe(options: Subscription): AsyncIterable<readonly RecordedEvent[]> {
    return follow(this, this.#changes, options);
  }

  async openProcesses(): Promise<readonly OpenProcess[]> {
    this.#assertOpen();
    return [...this.#open.values()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#changes.announceAll();
  }

  #mark({ stream, meta: { process } }: RecordedEvent): void {
    if (process === undefined) return;
    const key = JSON.stringify([stream, process.name, process.id]);
    if (process.open) this.#open.set(key, { name: process.name, id: process.id, stream, due: process.due });
    else this.#open.delete(key);
  }

  #page(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
    return [...untilFull(events, (event) => this.#bytes.get(event) ?? 0, READ_BYTES)];
  }

  #read(stream: string): RecordedEvent[] {
    this.#assertOpen();
    return this.#streams.get(stream) ?? [];
  }

  #assertOpen(): void {
    if (this.#closed) throw new Rejection('STORE_UNAVAILABLE', { retryAfter: 1 });
  }
}
