import {
  type AllStreamResolvedEvent,
  BACKWARDS,
  END,
  FORWARDS,
  type ResolvedEvent,
  START,
  type StreamingRead,
} from '@eventstore/db-client';

import type { Presence } from '../../kernel/concurrency/presence.js';
import { jsonBytes } from '../../kernel/base/json.js';
import { READ_BYTES } from '../../kernel/base/page-size.js';
import type { ReadRange, RecordedEvent, StreamPage } from '../../ports/event-store.js';
import { rangeOf } from '../shared/append-rules.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { LoggedEvent, Mark } from './log-end.js';
import type { LogHorizon } from './log-horizon.js';
import { readEach } from './read-each.js';
import type { StoreConnection } from './store-connection.js';
import { isBetweenEvents } from './store-failures.js';
import { storeIsThere } from './store-watch.js';
import { type StreamNames, toPosition, toRecorded, toServerPosition } from './stored-event.js';

/** `full`: ended by its bytes, whatever comes after it. */
type Slice = { readonly events: readonly RecordedEvent[]; readonly full: boolean };

/** Reads streams and the log's end. Whatever keeps the server from answering is STORE_UNAVAILABLE. */
export class StoreReader {
  readonly #connection: StoreConnection;
  readonly #names: StreamNames;
  readonly #horizon: LogHorizon;
  readonly #presence: Presence;

  constructor(connection: StoreConnection, names: StreamNames, horizon: LogHorizon, presence: Presence) {
    this.#connection = connection;
    this.#names = names;
    this.#horizon = horizon;
    this.#presence = presence;
  }

  /**
   * Reads as the port specifies. One call is enough if the read begins or ends at the stream's end; else a second call gets the last revision.
   * @throws RangeError for a limit outside 1..4096; Rejection STORE_UNAVAILABLE
   */
  async read(stream: string, range: ReadRange): Promise<StreamPage> {
    const { direction, from, to, limit } = range;
    rangeOf(range, -1);
    if (direction === 'forwards') return this.#forwards(stream, from ?? 0, to ?? Infinity, limit);
    if (from === undefined && to === undefined) {
      const { events } = await this.#slice(stream, BACKWARDS, END, limit);
      return { events, lastRevision: events[0]?.revision ?? -1 };
    }
    const lastRevision = await this.lastRevision(stream);
    const { lowest, highest } = rangeOf(range, lastRevision);
    const count = Math.min(limit, highest - lowest + 1);
    const { events } = count > 0 ? await this.#slice(stream, BACKWARDS, BigInt(highest), count) : NOTHING;
    return { events, lastRevision };
  }

  /** -1 for a missing stream. */
  async lastRevision(stream: string): Promise<number> {
    return (await this.#slice(stream, BACKWARDS, END, 1)).events[0]?.revision ?? -1;
  }

  /** The last events of the log, whoever wrote them, the last one first, until `take` returns that it is enough. */
  async readTail(limit: number, take: (event: LoggedEvent) => boolean): Promise<void> {
    await this.#readEach(
      () => this.#connection.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: limit }),
      ({ event, link }) => {
        const { id, streamId, position: at } = event ?? link ?? {};
        if (id === undefined || streamId === undefined || at === undefined) return false;
        const position = toPosition(at.commit);
        const isOurs = event !== undefined && this.#names.fromServer(streamId) !== null;
        if (isOurs) this.#horizon.meet(position);
        else this.#horizon.meetForeign(position);
        return take({ position, id, isOurs });
      },
    );
  }

  /**
   * Whether the log may be the one that held an event, whoever wrote it. In a log that was restored and has grown since, something else is there, or
   * there is no event that begins at that position; after a scavenge, the next one is read instead.
   */
  async mayHold({ position, id }: Mark): Promise<boolean> {
    let mayHold = false;
    try {
      await this.#readEach(
        () =>
          this.#connection.client.readAll({
            direction: FORWARDS,
            fromPosition: toServerPosition(position),
            maxCount: 1,
          }),
        ({ event, link }) => {
          const found = event ?? link;
          mayHold = found !== undefined && (toPosition(found.position.commit) > position || found.id === id);
          return true;
        },
      );
    } catch (error) {
      if (error instanceof Rejection && isBetweenEvents(error.cause)) return false;
      throw error;
    }
    return mayHold;
  }

  /** Notes where the log ends now, with the events of all namespaces. */
  async meetEnd(): Promise<void> {
    await this.#readEach(
      () => this.#connection.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }),
      ({ event }) => {
        if (event !== undefined) this.#horizon.meetForeign(toPosition(event.position.commit));
        return false;
      },
    );
  }

  /** The ids of a stream's events from a revision on, at most `limit`, with the position of the last one. */
  async idsFrom(stream: string, from: number, limit: number): Promise<{ ids: readonly string[]; position: number }> {
    const ids: string[] = [];
    let position = 0;
    await this.#readStream(stream, FORWARDS, from === 0 ? START : BigInt(from), limit, (event) => {
      ids.push(event.id);
      position = event.position;
      return false;
    });
    return { ids, position };
  }

  async #forwards(stream: string, from: number, to: number, limit: number): Promise<StreamPage> {
    const first = Math.max(from, 0);
    const count = Math.min(limit, to - first + 1);
    for (;;) {
      const start = first === 0 ? START : BigInt(first);
      const { events, full } = count > 0 ? await this.#slice(stream, FORWARDS, start, count) : NOTHING;
      const last = events.at(-1)?.revision;
      if (last !== undefined && !full && events.length < count) return { events, lastRevision: last };
      if (first === 0 && count > 0 && last === undefined) return { events, lastRevision: -1 };
      const lastRevision = await this.lastRevision(stream);
      // The slice would lack what was written after it was read.
      if (last !== undefined || count <= 0 || lastRevision < first) return { events, lastRevision };
    }
  }

  async #slice(
    stream: string,
    direction: typeof FORWARDS | typeof BACKWARDS,
    fromRevision: bigint | typeof START | typeof END,
    maxCount: number,
  ): Promise<Slice> {
    const events: RecordedEvent[] = [];
    let bytes = 0;
    const full = await this.#readStream(stream, direction, fromRevision, maxCount, (event) => {
      events.push(event);
      bytes += jsonBytes(event.data) + jsonBytes(event.meta);
      return bytes >= READ_BYTES;
    });
    return { events, full };
  }

  #readStream(
    stream: string,
    direction: typeof FORWARDS | typeof BACKWARDS,
    fromRevision: bigint | typeof START | typeof END,
    maxCount: number,
    take: (event: RecordedEvent) => boolean,
  ): Promise<boolean> {
    const name = this.#names.toServer(stream);
    return this.#readEach(
      () => this.#connection.client.readStream(name, { direction, fromRevision, maxCount }),
      ({ event }) => {
        if (event === undefined) return false;
        const recorded = toRecorded(event, stream);
        this.#horizon.meet(recorded.position);
        return take(recorded);
      },
    );
  }

  readonly #readEach: ReadEach = async (open, take) => {
    if (this.#presence.isAway) await storeIsThere(this.#presence);
    return readEach(open, take, { presence: this.#presence, connection: this.#connection });
  };
}

/** `readEach` of an available store. */
type ReadEach = <Event extends ResolvedEvent | AllStreamResolvedEvent>(
  open: () => StreamingRead<Event>,
  take: (event: Event) => boolean,
) => Promise<boolean>;

const NOTHING: Slice = { events: [], full: false };
