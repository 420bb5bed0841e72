import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Position, START, streamNameFilter } from '@eventstore/db-client';

import { READ_BYTES } from '../../kernel/base/page-size.js';
import type { RecordedEvent, Subscription } from '../../ports/event-store.js';
import { assertOneStart } from '../shared/follow.js';
import type { Presence } from '../../kernel/concurrency/presence.js';
import type { Log } from '../../ports/log.js';
import { createBell } from './bell.js';
import type { LogHorizon } from './log-horizon.js';
import { READ_SILENCE_MS, type StoreConnection } from './store-connection.js';
import { isDenied, readRefused, storeUnavailable, wantsLeader } from './store-failures.js';
import { ASK_AGAIN_MS, ELECTION_MS } from './read-each.js';
import { storeIsThere } from './store-watch.js';
import { type StreamNames, toServerPosition } from './stored-event.js';
import { type FeedPlace, type ServerSubscription, SubscriptionLeg } from './subscription-leg.js';

/** The pauses before a lost subscription is opened again, in milliseconds; the last one repeats. The first is for a reader that fell behind. */
const REOPEN_MS = [0, 50, 100, 250, 500, 1_000] as const;
/** A filter reports its position after this many skipped events, so that resuming does not skip them a second time. */
const SEARCH_WINDOW = 1_000;
const DENIED =
  'The event store does not allow reading its log ($all), so new events are not seen; check the user in EVENTSTORE_URL';

export type Followed = {
  readonly connection: StoreConnection;
  readonly names: StreamNames;
  readonly horizon: LogHorizon;
  /** Aborts when the store is closed. */
  readonly closing: AbortSignal;
  readonly log: Pick<Log, 'error' | 'warn'>;
  readonly presence: Presence;
  /** Where a reader of what comes after a position may begin, skipping the events of others in between. */
  readonly startAfter: (position: number) => Promise<number>;
};

/**
 * History, then live. A subscription is lost with its connection, or when more than 32 events wait for its reader. It is opened again after the last
 * event that it gave, as often as needed. No event is left out or repeated.
 * @throws RangeError as `assertOneStart`; while iterating: Rejection STORE_UNAVAILABLE once the store is closed
 */
export const followStore = (followed: Followed, options: Subscription): AsyncIterable<readonly RecordedEvent[]> => {
  assertOneStart(options);
  // One signal may end many subscriptions.
  setMaxListeners(0, options.signal, followed.closing);
  return batches(followed, options);
};

/** Opens the server's subscription after what was given so far. */
const opening =
  (
    { connection: { client }, names }: Omit<Followed, 'startAfter'>,
    { after = 0, prefix = '', stream }: Subscription,
    place: FeedPlace,
  ) =>
  (checkpointReached: (position: Position) => void): ServerSubscription => {
    if (stream !== undefined) {
      const from = place.event === undefined ? stream.from : place.event.revision + 1;
      // Exclusive, unlike the port's `from`.
      const fromRevision = from <= 0 ? START : BigInt(from - 1);
      return client.subscribeToStream(names.toServer(stream.name), { fromRevision });
    }
    const position = place.event?.position ?? after;
    const fromPosition = place.checkpoint ?? (position === 0 ? START : toServerPosition(position));
    const filter = streamNameFilter({
      prefixes: [names.toServer(prefix)],
      maxSearchWindow: SEARCH_WINDOW,
      checkpointReached: (_, reached) => checkpointReached(reached),
    });
    return client.subscribeToAll({ fromPosition, filter });
  };

async function* batches(
  followed: Followed,
  options: Subscription,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const { signal } = options;
  const { closing, connection, names, horizon, log } = followed;
  const bell = createBell();
  const ended = (): boolean => signal.aborted || closing.aborted;
  signal.addEventListener('abort', bell.ring);
  closing.addEventListener('abort', bell.ring);
  let place: FeedPlace = {};
  let failures = 0;
  let isDeniedKnown = false;
  let leg: SubscriptionLeg | null = null;
  try {
    const asked =
      options.stream === undefined ? { ...options, after: await followed.startAfter(options.after ?? 0) } : options;
    while (!ended()) {
      leg ??= new SubscriptionLeg(
        opening(followed, asked, place),
        connection.node,
        names.fromServer,
        horizon,
        bell.ring,
      );
      const taken = leg.take();
      const last = taken.at(-1);
      if (last !== undefined) {
        place = last;
        failures = 0;
        isDeniedKnown = false;
        const events = taken.flatMap(({ event }) => (event === undefined ? [] : [event]));
        if (events.length > 0) yield events;
      } else if (leg.over) {
        if (isDenied(leg.failure) && !isDeniedKnown) {
          isDeniedKnown = true;
          log.error({ err: leg.failure }, DENIED);
        }
        leg.close();
        leg = null;
        const delay = REOPEN_MS[Math.min(failures, REOPEN_MS.length - 1)] ?? 0;
        failures += 1;
        if (delay > 0) await bell.next(delay);
      } else await bell.next();
    }
  } finally {
    leg?.close();
    signal.removeEventListener('abort', bell.ring);
    closing.removeEventListener('abort', bell.ring);
  }
  if (!signal.aborted) throw storeUnavailable();
}

/**
 * Passes on what comes after a position, up to the present, until `take` returns that it is enough.
 * @param silenceMs how long the server may send nothing, in milliseconds
 * @throws Rejection STORE_UNAVAILABLE
 */
export const readOn = async (
  followed: Omit<Followed, 'startAfter'>,
  after: number,
  take: (taken: FeedPlace) => boolean,
  silenceMs = READ_SILENCE_MS,
): Promise<void> => {
  const { connection, names, horizon, closing, presence } = followed;
  if (presence.isAway) await storeIsThere(presence);
  const electedBy = performance.now() + ELECTION_MS;
  // One slow call does not prove that the store is silent, so the store is probed.
  const silent = (): never => {
    void presence.probe().catch(() => undefined);
    throw storeUnavailable();
  };
  const bell = createBell();
  let { node } = connection;
  const open = (place: FeedPlace): SubscriptionLeg => {
    ({ node } = connection);
    const opened = opening(followed, { after, signal: closing }, place);
    return new SubscriptionLeg(opened, node, names.fromServer, horizon, bell.ring);
  };
  let failures = 0;
  let place: FeedPlace = {};
  let leg = open(place);
  try {
    for (;;) {
      for (const taken of leg.take()) {
        place = taken;
        failures = 0;
        if (take(taken)) return;
      }
      if (leg.caughtUp) return;
      if (closing.aborted) throw storeUnavailable();
      if (!leg.over) {
        if (!(await bell.next(silenceMs))) silent();
        continue;
      }
      const { failure } = leg;
      // The client left the node that served it: the next one is asked.
      const isLeft = failure === undefined && node.aborted;
      if (failure === undefined && !isLeft) silent();
      // The server drops a reader that falls behind, which is not a failure of the server.
      const isElecting = wantsLeader(failure) && performance.now() < electedBy;
      const delay = isElecting ? ASK_AGAIN_MS : REOPEN_MS[isLeft ? 0 : failures];
      if (delay === undefined || isDenied(failure)) throw readRefused(failure);
      if (!isElecting && !isLeft) failures += 1;
      leg.close();
      if (delay > 0) await sleep(delay);
      leg = open(place);
    }
  } finally {
    leg.close();
  }
};

/**
 * The events of the namespace after a position, at most `limit` and a page. It is a subscription up to the present, because a read of the complete
 * log has no filter.
 * @throws Rejection STORE_UNAVAILABLE
 */
export const readFiltered = async (
  followed: Followed,
  after: number,
  limit: number,
): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  let bytes = 0;
  await readOn(followed, await followed.startAfter(after), ({ event, bytes: more = 0 }) => {
    if (event !== undefined) events.push(event);
    bytes += more;
    return events.length === limit || bytes >= READ_BYTES;
  });
  return events;
};
