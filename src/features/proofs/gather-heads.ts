import type { Leaf } from './domain/leaf.js';
import { npcStreamsOf } from '../../kernel/base/stream-names.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { CheckpointInput, RoundArgs } from '../../../workflows/checkpoint.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';

/** How many events are read at a time. */
const PAGE = 500;
/** The limits of one batch: this many leaves, and this many characters in them and the names of their streams. It is one event. */
const BATCH_LEAVES = 512;
const BATCH_CHARS = 400_000;
/** The size of a leaf in addition to the name of its stream, in characters of JSON. */
const LEAF_CHARS = 200;
/** How long one batch is gathered, in milliseconds: the progress is then recorded, and not repeated after a crash. */
const BATCH_MS = 10_000;

export type GatherDeps = { readonly events: EventStore; readonly clock: Pick<Clock, 'monotonicMs'> };

/** The last event of each stream among these, in order. */
const lastOfEach = (events: readonly RecordedEvent[], prefix: string): readonly RecordedEvent[] => {
  const last = new Map<string, RecordedEvent>();
  for (const event of events) {
    if (!event.stream.startsWith(prefix)) continue;
    last.delete(event.stream);
    last.set(event.stream, event);
  }
  return [...last.values()];
};

/**
 * Gathers one batch of heads: of the events after `through`, those that are the last of their mind's stream up to `until`. So each mind that was
 * written to has one leaf in a round. Memory does not grow with the number of minds. Propagates errors from the event store.
 */
export const gatherHeads = async (
  { events, clock }: GatherDeps,
  tenant: string,
  { through, until }: RoundArgs,
  signal: AbortSignal,
): Promise<Extract<CheckpointInput, { type: 'gathered' }>> => {
  const prefix = npcStreamsOf(tenant);
  const endMs = clock.monotonicMs() + BATCH_MS;
  const leaves: Leaf[] = [];
  let [at, chars] = [through, 0];
  const isHead = async ({ stream, revision }: RecordedEvent): Promise<boolean> => {
    const { events: later } = await events.read(stream, { direction: 'forwards', from: revision + 1, limit: 1 });
    return later[0] === undefined || later[0].position > until;
  };
  do {
    signal.throwIfAborted();
    const page = await events.readAll(at, PAGE);
    const within = page.filter(({ position }) => position <= until);
    for (const event of lastOfEach(within, prefix)) {
      if (!(await isHead(event))) continue;
      leaves.push({ stream: event.stream, revision: event.revision, hash: event.meta.hash, at: event.meta.at });
      chars += event.stream.length + LEAF_CHARS;
      if (leaves.length >= BATCH_LEAVES || chars >= BATCH_CHARS)
        return { type: 'gathered', leaves, through: event.position };
    }
    if (within.length < page.length || page.length === 0) return { type: 'gathered', leaves, through: until };
    at = within.at(-1)?.position ?? until;
    await yieldToEventLoop();
  } while (at < until && clock.monotonicMs() < endMs);
  return { type: 'gathered', leaves, through: Math.min(at, until) };
};

/** The global position of the first event of the tenant's minds after a position; null if there is none. Propagates errors from the event store. */
export const firstNews = async (
  events: Pick<EventStore, 'readAll'>,
  tenant: string,
  after: number,
): Promise<number | null> => {
  const prefix = npcStreamsOf(tenant);
  for (let at = after; ;) {
    const page = await events.readAll(at, PAGE);
    const found = page.find(({ stream }) => stream.startsWith(prefix));
    if (found !== undefined) return found.position;
    const last = page.at(-1);
    if (last === undefined) return null;
    at = last.position;
    await yieldToEventLoop();
  }
};
