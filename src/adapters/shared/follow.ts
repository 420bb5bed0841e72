import { setMaxListeners } from 'node:events';

import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import type { EventStore, RecordedEvent, Subscription } from '../../ports/event-store.js';

/** The maximum number of events in one batch of a subscription. */
export const SUBSCRIPTION_BATCH = 256;

/** Wakes the readers that wait for new events, of one stream or of any. It counts the changes, so that none is missed between reading and waiting. */
export class ChangeSignal {
  #count = 0;
  readonly #waiting = new Map<string | null, Set<() => void>>();

  /** The number of changes so far. */
  get count(): number {
    return this.#count;
  }

  /** Wakes the readers that wait for one of these streams or for any stream. */
  announce(streams: Iterable<string>): void {
    this.#count += 1;
    this.#wake(null);
    for (const stream of streams) this.#wake(stream);
  }

  /** Wakes every reader, e.g. because the store was closed. */
  announceAll(): void {
    this.#count += 1;
    for (const stream of [...this.#waiting.keys()]) this.#wake(stream);
  }

  /** Resolves at the first change of `stream` (null: any) after the `seen`th, or when `signal` aborts. */
  after(seen: number, stream: string | null, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#count !== seen) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(stream) ?? new Set();
      this.#waiting.set(stream, waiting);
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(stream) === waiting) this.#waiting.delete(stream);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  #wake(stream: string | null): void {
    for (const wake of [...(this.#waiting.get(stream) ?? [])]) wake();
  }
}

/** @throws RangeError unless exactly one start is named, with a prefix only for a start in the global order. */
export const assertOneStart = ({ after, prefix, stream }: Subscription): void => {
  if ((after === undefined) === (stream === undefined)) throw new RangeError('Pass either `after` or `stream`.');
  if (prefix !== undefined && after === undefined) throw new RangeError('`prefix` requires `after`.');
};

/**
 * A subscription made of reads: the existing events, batch by batch, and a new read whenever something changed. It keeps only the reader's position,
 * so a slow reader delays no other and buffers nothing.
 * @throws RangeError as `assertOneStart`
 */
export const follow = (
  store: Pick<EventStore, 'read' | 'readAll'>,
  changes: ChangeSignal,
  options: Subscription,
): AsyncIterable<readonly RecordedEvent[]> => {
  assertOneStart(options);
  // One signal may end many subscriptions; each removes its listener when it wakes.
  setMaxListeners(0, options.signal);
  return batches(store, changes, options);
};

async function* batches(
  store: Pick<EventStore, 'read' | 'readAll'>,
  changes: ChangeSignal,
  { after = 0, prefix = '', stream, signal }: Subscription,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  let position = after;
  let from = stream?.from ?? 0;
  const ended = (): boolean => signal.aborted;
  while (!ended()) {
    const seen = changes.count;
    let events: readonly RecordedEvent[];
    try {
      events =
        stream === undefined
          ? await store.readAll(position, SUBSCRIPTION_BATCH)
          : (await store.read(stream.name, { direction: 'forwards', from, limit: SUBSCRIPTION_BATCH })).events;
    } catch (error) {
      // The store may be closed while it is read for a reader that has already left.
      if (ended()) return;
      throw error;
    }
    const last = events.at(-1);
    if (last === undefined) {
      await changes.after(seen, stream?.name ?? null, signal);
      continue;
    }
    if (ended()) return;
    position = last.position;
    from = last.revision + 1;
    const asked = prefix === '' ? events : events.filter((event) => event.stream.startsWith(prefix));
    if (asked.length > 0) yield asked;
    await yieldToEventLoop();
  }
}
