import { type Edge, growEdge, rootOfEdge, type Span, toHex } from './domain/edge.js';
import { eventHash, type Leaf } from './domain/leaf.js';
import { type LoggedKind, logOfEvent } from './domain/logged-streams.js';
import { firstRevision } from './search-stream.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { CheckpointInput, RoundArgs } from '../../../workflows/checkpoint.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { EventChecks } from '../../kernel/streams/event-checks.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';

/** How many events are read at a time. */
const PAGE = 500;
/** The limits of one batch: this many leaves, and this many characters in them and the names of their streams. It is one event. */
const BATCH_LEAVES = 512;
const BATCH_CHARS = 400_000;
/** The size of a leaf in addition to the name of its stream, in characters of JSON. */
const LEAF_CHARS = 320;
/** How long one batch is gathered, in milliseconds: the progress is then recorded, and not repeated after a crash. */
const BATCH_MS = 10_000;

export type GatherDeps = {
  readonly events: EventStore;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly checks: Pick<EventChecks, 'requireGood'>;
};

/** How many events the `events` of one leaf cover at most, the newest ones: some seconds of reading. Whole bundles show older ones. */
const LEAF_EVENTS = 65_536;

/** The last event that a log holds of each stream of these kinds among some events, in order. */
const lastOfEach = (
  events: readonly RecordedEvent[],
  tenant: string,
  kinds: ReadonlySet<LoggedKind>,
): readonly RecordedEvent[] => {
  const last = new Map<string, RecordedEvent>();
  for (const event of events) {
    const log = logOfEvent(event);
    if (log?.tenant !== tenant || !kinds.has(log.kind)) continue;
    last.delete(event.stream);
    last.set(event.stream, event);
  }
  return [...last.values()];
};

/** The root over the hashes of a stream's events in a range of revisions. Propagates errors from the event store. */
export const rootOfEvents = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  { from, to }: Span,
): Promise<string> => {
  let edge: Edge = [];
  let size = 0;
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from, to: to - 1 })) {
    const hashes = page.events.map(({ meta }) => eventHash(meta.hash));
    edge = growEdge(edge, size, hashes, 0);
    size += hashes.length;
    await yieldToEventLoop();
  }
  return toHex(rootOfEdge(edge));
};

/** What one batch reads: the kinds that are behind from the beginning up to where the round began, then all kinds from there. */
const rangeOf = ({ begun, through, until, kinds, behind, caughtUp }: RoundArgs) =>
  caughtUp < begun
    ? { kinds: behind, after: caughtUp, until: begun, since: 0 }
    : { kinds, after: through, until, since: begun };

/**
 * Gathers one batch of heads: of the events after a position, those that are the last of their stream up to the end of the range. So each stream that
 * was written to has one leaf in a round, unless its last event is not what was recorded. Memory does not grow with the number of streams. Propagates
 * errors from the event store.
 */
export const gatherHeads = async (
  { events, clock, checks }: GatherDeps,
  tenant: string,
  args: RoundArgs,
  signal: AbortSignal,
): Promise<Extract<CheckpointInput, { type: 'gathered' }>> => {
  const { after, until, since, ...range } = rangeOf(args);
  const kinds = new Set(range.kinds);
  const endMs = clock.monotonicMs() + BATCH_MS;
  const leaves: Leaf[] = [];
  let [at, chars] = [after, 0];
  const gathered = (upTo: number) => {
    const reached = args.caughtUp < args.begun ? { through: args.through, caughtUp: upTo } : { through: upTo };
    return { type: 'gathered', leaves, kinds: args.kinds, ...reached } as const;
  };
  const isHead = async ({ stream, revision }: RecordedEvent): Promise<boolean> => {
    const { events: later } = await events.read(stream, { direction: 'forwards', from: revision + 1, limit: 1 });
    return later[0] === undefined || later[0].position > until;
  };
  // A batch that begins where the round began sees the first event of each stream in the round; the others have to look for it.
  const seen = after === since ? new Map<string, number>() : null;
  const firstOf = async ({ stream, revision, type }: RecordedEvent): Promise<number> =>
    logOfEvent({ stream, type })?.kind === 'ghost'
      ? 0
      : (seen?.get(stream) ?? firstRevision(events, stream, revision, ({ position }) => position > since));
  const leafOf = async (event: RecordedEvent): Promise<Leaf> => {
    const { stream, revision, meta } = event;
    const first = await firstOf(event);
    const from = Math.max(first, revision - LEAF_EVENTS + 1);
    const root = await rootOfEvents(events, stream, { from, to: revision + 1 });
    return { stream, revision, hash: meta.hash, at: meta.at, from, events: root };
  };
  const isGood = (event: RecordedEvent): Promise<boolean> =>
    checks.requireGood([event]).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Rejection && error.code === 'CHAIN_BROKEN') return false;
        throw error;
      },
    );
  do {
    signal.throwIfAborted();
    const page = await events.readAll(at, PAGE);
    const within = page.filter(({ position }) => position <= until);
    for (const { stream, revision } of seen === null ? [] : within)
      if (seen?.has(stream) === false) seen.set(stream, revision);
    for (const event of lastOfEach(within, tenant, kinds)) {
      if (!(await isHead(event)) || !(await isGood(event))) continue;
      leaves.push(await leafOf(event));
      chars += event.stream.length + LEAF_CHARS;
      if (leaves.length >= BATCH_LEAVES || chars >= BATCH_CHARS || clock.monotonicMs() >= endMs)
        return gathered(event.position);
    }
    if (within.length < page.length || page.length === 0) return gathered(until);
    at = within.at(-1)?.position ?? until;
    await yieldToEventLoop();
  } while (at < until && clock.monotonicMs() < endMs);
  return gathered(Math.min(at, until));
};

/**
 * The global position of the first event after a position that the tenant's log does not hold yet; null if there is none, or only accesses: they are
 * logged with the others, but are no reason for a round on request, because the request is an access too. Propagates errors from the event store.
 */
export const firstNews = async (
  events: Pick<EventStore, 'readAll'>,
  tenant: string,
  after: number,
): Promise<number | null> => {
  let first: number | null = null;
  for (let at = after; ;) {
    const page = await events.readAll(at, PAGE);
    for (const event of page) {
      const log = logOfEvent(event);
      if (log?.tenant !== tenant) continue;
      first ??= event.position;
      if (log.kind !== 'access') return first;
    }
    const last = page.at(-1);
    if (last === undefined) return null;
    at = last.position;
    await yieldToEventLoop();
  }
};
