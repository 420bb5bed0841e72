import {
  type AllStreamResolvedEvent,
  BACKWARDS,
  END,
  FORWARDS,
  type ResolvedEvent,
  START,
  type StreamingRead,
  StreamNotFoundError,
} from '@eventstore/db-client';

import type { ReadRange, RecordedEvent } from '../../ports/event-store.js';
import { rangeOf } from '../memory/append-rules.js';
import type { LogHorizon } from './log-horizon.js';
import type { StoreConnection } from './store-connection.js';
import { unavailable } from './store-failures.js';
import { type StreamNames, toPosition, toRecorded } from './stored-event.js';

/** How long a read may go without an event before the store counts as unreachable, in milliseconds. */
export const READ_SILENCE_MS = 1_500;
/** How many events of the log are looked at for the last one of ours, at first and later. */
const TAIL_EVENTS = { first: 32, later: 1_024 } as const;

type StreamRead = { readonly events: readonly RecordedEvent[]; readonly lastRevision: number };

/** Reads streams and the log's end. Whatever keeps the server from answering is STORE_UNAVAILABLE. */
export class StoreReader {
  readonly #connection: StoreConnection;
  readonly #names: StreamNames;
  readonly #horizon: LogHorizon;

  constructor(connection: StoreConnection, names: StreamNames, horizon: LogHorizon) {
    this.#connection = connection;
    this.#names = names;
    this.#horizon = horizon;
  }

  /**
   * Reads as the port says. One call when the read begins or ends at the stream's end, else another one for the last revision: no event up to
   * the revision that is returned is missing because it was appended between the two.
   * @throws RangeError for a limit outside 1..4096; Rejection STORE_UNAVAILABLE
   */
  async read(stream: string, range: ReadRange): Promise<StreamRead> {
    const { direction, from, to, limit } = range;
    rangeOf(range, -1);
    if (direction === 'forwards') return this.#forwards(stream, from ?? 0, to ?? Infinity, limit);
    if (from === undefined && to === undefined) {
      const events = await this.#slice(stream, BACKWARDS, END, limit);
      return { events, lastRevision: events[0]?.revision ?? -1 };
    }
    const lastRevision = await this.lastRevision(stream);
    const { lowest, highest } = rangeOf(range, lastRevision);
    const count = Math.min(limit, highest - lowest + 1);
    const events = count > 0 ? await this.#slice(stream, BACKWARDS, BigInt(highest), count) : [];
    return { events, lastRevision };
  }

  /** -1 for a missing stream. */
  async lastRevision(stream: string): Promise<number> {
    return (await this.#slice(stream, BACKWARDS, END, 1))[0]?.revision ?? -1;
  }

  /** The position of our last event, 0 when there is none: looked for from the log's end back to the last one that is known. */
  async lastPosition(): Promise<number> {
    const known = this.#horizon.own;
    let from: Parameters<StoreConnection['client']['readAll']>[0] = { fromPosition: END, maxCount: TAIL_EVENTS.first };
    for (;;) {
      const page = await collect(() => this.#connection.client.readAll({ ...from, direction: BACKWARDS }));
      for (const { event } of page) {
        if (event === undefined) continue;
        const position = toPosition(event.position.commit);
        this.#horizon.meetForeign(position);
        if (position <= known) return this.#horizon.own;
        if (this.#names.fromServer(event.streamId) === null) continue;
        this.#horizon.meet(position);
        return position;
      }
      const last = page.at(-1);
      const position = (last?.event ?? last?.link)?.position;
      if (position === undefined) return this.#horizon.own;
      from = { fromPosition: position, maxCount: TAIL_EVENTS.later };
    }
  }

  /** Notes where the log ends now, whoever wrote there. */
  async meetEnd(): Promise<void> {
    const page = await collect(() =>
      this.#connection.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }),
    );
    for (const { event } of page) if (event !== undefined) this.#horizon.meetForeign(toPosition(event.position.commit));
  }

  /** The ids of a stream's events from a revision on, at most `limit`, with the position of the last one. */
  async idsFrom(stream: string, from: number, limit: number): Promise<{ ids: readonly string[]; position: number }> {
    const events = await this.#slice(stream, FORWARDS, from === 0 ? START : BigInt(from), limit);
    return { ids: events.map(({ id }) => id), position: events.at(-1)?.position ?? 0 };
  }

  async #forwards(stream: string, from: number, to: number, limit: number): Promise<StreamRead> {
    const first = Math.max(from, 0);
    const count = Math.min(limit, to - first + 1);
    for (;;) {
      const events = count > 0 ? await this.#slice(stream, FORWARDS, first === 0 ? START : BigInt(first), count) : [];
      const last = events.at(-1)?.revision;
      if (last !== undefined && events.length < count) return { events, lastRevision: last };
      if (first === 0 && count > 0 && last === undefined) return { events, lastRevision: -1 };
      const lastRevision = await this.lastRevision(stream);
      // What was written since the slice was read would be missing from it.
      if (last !== undefined || count <= 0 || lastRevision < first) return { events, lastRevision };
    }
  }

  async #slice(
    stream: string,
    direction: typeof FORWARDS | typeof BACKWARDS,
    fromRevision: bigint | typeof START | typeof END,
    maxCount: number,
  ): Promise<readonly RecordedEvent[]> {
    const name = this.#names.toServer(stream);
    const resolved = await collect(() =>
      this.#connection.client.readStream(name, { direction, fromRevision, maxCount }),
    );
    const events = resolved.flatMap(({ event }) => (event === undefined ? [] : [toRecorded(event, stream)]));
    const highest = direction === FORWARDS ? events.at(-1) : events[0];
    if (highest !== undefined) this.#horizon.meet(highest.position);
    return events;
  }
}

/** Everything a read gives, nothing for a missing stream. The client's own deadline does not reach reads, so silence is timed here. */
const collect = async <Event extends ResolvedEvent | AllStreamResolvedEvent>(
  open: () => StreamingRead<Event>,
): Promise<readonly Event[]> => {
  const reading = open();
  const silent = (): void => {
    void reading.cancel().catch(() => undefined);
    reading.destroy(unavailable());
  };
  const timer = setTimeout(silent, READ_SILENCE_MS);
  const events: Event[] = [];
  try {
    for await (const event of reading as AsyncIterable<Event>) {
      timer.refresh();
      events.push(event);
    }
    return events;
  } catch (error) {
    if (error instanceof StreamNotFoundError) return [];
    throw unavailable(error);
  } finally {
    clearTimeout(timer);
  }
};
