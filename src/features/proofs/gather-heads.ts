import type { Leaf } from './domain/leaf.js';
import { type LoggedKind, logOfEvent } from './domain/logged-streams.js';
import type { GoodRoots } from './good-roots.js';
import { openCovered } from './covered.js';
import { firstRevision } from './search-stream.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { CheckpointInput, RoundArgs } from '../../../workflows/checkpoint.js';
import { isChainBroken } from '../../kernel/streams/event-checks.js';
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
  readonly roots: GoodRoots;
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

/** What one batch reads: the kinds that are behind from the beginning up to where the round began, then all kinds from there. */
const rangeOf = ({ begun, through, until, kinds, behind, caughtUp }: RoundArgs) =>
  caughtUp < begun
    ? { kinds: behind, after: caughtUp, until: begun, since: 0 }
    : { kinds, after: through, until, since: begun };

/**
 * Gathers one batch of heads: of the events after a position, those that are the last of their stream up to the end of the range. So each stream that
 * was written to has one leaf in a round, unless an event since its last leaf is not what was recorded. Memory does not grow with the number of
 * streams. Propagates errors from the event store.
 */
export const gatherHeads = async (
  { events, clock, roots }: GatherDeps,
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
  const covered = openCovered(events, tenant);
  const leafOf = async (event: RecordedEvent): Promise<Leaf> => {
    const { stream, revision, meta } = event;
    const start = await covered(stream, await firstOf(event));
    const from = Math.max(start, revision - LEAF_EVENTS + 1);
    const root = await roots(stream, { start, from, to: revision + 1 }, signal);
    return { stream, revision, hash: meta.hash, at: meta.at, from, events: root };
  };
  const goodLeafOf = (event: RecordedEvent): Promise<Leaf | null> =>
    leafOf(event).catch((error: unknown) => {
      if (isChainBroken(error)) return null;
      throw error;
    });
  do {
    signal.throwIfAborted();
    const page = await events.readAll(at, PAGE);
    const within = page.filter(({ position }) => position <= until);
    for (const { stream, revision } of seen === null ? [] : within)
      if (seen?.has(stream) === false) seen.set(stream, revision);
    for (const event of lastOfEach(within, tenant, kinds)) {
      const leaf = (await isHead(event)) ? await goodLeafOf(event) : null;
      if (leaf === null) continue;
      leaves.push(leaf);
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
