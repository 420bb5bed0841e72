import { randomUUID } from 'node:crypto';

import streams from '@eventstore/db-client/generated/streams_pb.js';

import { BadRequest, tooSlow } from './errors.js';
import { filterOf } from './filter.js';
import type { Like } from './like.js';
import type { Header, Log, LoggedEvent } from './log.js';
import { eventMessage, MAX_INT64, MAX_UINT64, positionOf, type ReadCall, streamName, toNumber } from './wire.js';

/** A subscriber that has read nothing for STALLED_MS milliseconds falls behind when this many live events wait. */
const LIVE_WAITING = 32;
const STALLED_MS = 50;
/** Even a subscriber that reads falls behind when this many wait. */
const LIVE_BURST = 500;
/** How many events are read from the log at a time, unless a filter sets another number. */
const PAGE = 64;
/** How many pages of headers a filter reads from the log at a time. */
const PAGES_AHEAD = 32;

/**
 * The source of a subscription: where it begins and what comes after an event. `next` ignores the filter and may return headers; `matches` applies the
 * filter, and
 * `load` reads what matched.
 */
type Source = {
  readonly fromEnd: boolean;
  readonly exists: () => boolean;
  readonly next: (after: Header | undefined, limit: number) => readonly Header[];
  readonly matches: (event: Header) => boolean;
  readonly load: (event: Header) => LoggedEvent;
  readonly window: number;
  readonly checkpointEvery: number;
  /** The first position to deliver. An earlier event of the log is only counted. */
  readonly begins: number;
};

/**
 * Follows a stream or $all: confirmation, history, caughtUp, live events. History waits for its reader, live events do not. A subscriber that falls
 * behind is dropped and may subscribe again after its last event, or returns to history.
 * @throws BadRequest for an invalid start or filter.
 */
export const subscribe = (
  log: Log,
  like: Like,
  call: ReadCall,
  options: streams.ReadReq.Options,
  dropAfter = Infinity,
): void => {
  const source = options.hasAll() ? sourceOfAll(log, like, options) : sourceOfStream(log, like, options);
  const confirmation = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID());
  call.write(new streams.ReadResp().setConfirmation(confirmation));
  void follow(log, like, call, source, dropAfter);
};

const follow = async (log: Log, like: Like, call: ReadCall, source: Source, dropAfter: number): Promise<void> => {
  let [live, blocked, over] = [false, false, false];
  let waiting = 0;
  let looked = 0;
  let sent = 0;
  let given = 0;
  let watch: NodeJS.Timeout | undefined;
  let last: Header | undefined;
  /** For the last page of history that was scanned: its last match, or else just before its first event (at it, if it was seen before). */
  let reached = { commit: 0, prepare: 0 };
  let wake = (): void => {};
  const change = (): Promise<void> => new Promise((resolve) => (wake = resolve));

  const stop = (): void => {
    over = true;
    blocked = false;
    clearTimeout(watch);
    stopListening();
    wake();
  };
  const drop = (): void => {
    if (over) return;
    stop();
    call.emit('error', tooSlow());
  };
  const fallBehind = (): void => {
    if (like.dropsSlow) drop();
    else [live, waiting] = [false, 0];
  };
  const fallBehindIfStalled = (sentThen: number): void => {
    watch = undefined;
    if (blocked && sent === sentThen && waiting >= LIVE_WAITING) fallBehind();
  };
  const stopListening = log.onCommit((events) => {
    if (live) waiting += events.filter(source.matches).length;
    wake();
    if (waiting >= LIVE_BURST) fallBehind();
    else if (blocked && waiting >= LIVE_WAITING) watch ??= setTimeout(fallBehindIfStalled, STALLED_MS, sent);
  });
  for (const name of ['cancelled', 'close']) call.on(name, stop);
  call.on('drain', () => {
    blocked = false;
    wake();
  });

  const send = async (message: streams.ReadResp): Promise<void> => {
    if (over) return;
    sent += 1;
    blocked = !call.write(message);
    while (blocked) await change();
  };
  const checkpoint = (commit: number, prepare: number): Promise<void> => {
    looked = 0;
    const message = new streams.ReadResp.Checkpoint();
    message.setCommitPosition(String(commit)).setPreparePosition(String(prepare));
    return send(new streams.ReadResp().setCheckpoint(message));
  };
  const endHistory = async (): Promise<void> => {
    const isNews = looked > 0 && last !== undefined && last.position >= source.begins;
    if (isNews && source.checkpointEvery < Infinity) await checkpoint(reached.commit, reached.prepare);
    looked = 0;
  };

  while (!over) {
    const page = source.next(last, source.window);
    const first = page[0];
    if (first === undefined) {
      if (!live && (source.fromEnd || source.exists())) {
        live = true;
        if (like.checkpointsEnd) await endHistory();
        await send(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()));
      } else await change();
      continue;
    }
    let match: Header | undefined;
    for (const event of page) {
      last = event;
      looked += 1;
      if (source.matches(event)) {
        match = event;
        if (live) waiting -= 1;
        await send(eventMessage(source.load(event)));
        given += 1;
        if (given >= dropAfter) drop();
      }
      if (live && looked >= source.checkpointEvery) await checkpoint(event.position, event.position);
    }
    // In history at most one per page, and not at the page's end.
    const seen = first.position < source.begins ? first.position : 0;
    reached = { commit: match?.position ?? first.position, prepare: match?.position ?? seen };
    if (!live && looked >= source.checkpointEvery) await checkpoint(reached.commit, reached.prepare);
    // A filter may scan the entire log without sending anything, so other calls are served in between.
    if (!live) await new Promise((resolve) => setImmediate(resolve));
  }
};

const sourceOfStream = (log: Log, like: Like, options: streams.ReadReq.Options): Source => {
  const from = options.getStream();
  const stream = streamName(from?.getStreamIdentifier());
  const sent = from?.hasRevision() === true ? BigInt(from.getRevision()) : undefined;
  const beyond = like.takesLastRevision ? MAX_INT64 + 1n : MAX_INT64;
  if (sent !== undefined && sent >= beyond && sent !== MAX_UINT64) throw new BadRequest('This is no revision.');
  const fromEnd = from?.hasEnd() === true || sent === MAX_UINT64;
  const start = fromEnd ? (log.lastRevision(stream) ?? -1) : sent === undefined ? -1 : toNumber(sent);
  return {
    fromEnd,
    exists: () => like.missingIsCaughtUp || log.lastRevision(stream) !== undefined,
    next: (after, limit) => log.readStream(stream, 'forwards', (after?.revision ?? start) + 1, limit),
    matches: (event) => event.stream === stream && event.revision > start,
    load: loadFrom(log),
    window: PAGE,
    checkpointEvery: Infinity,
    begins: 0,
  };
};

const sourceOfAll = (log: Log, like: Like, options: streams.ReadReq.Options): Source => {
  const from = options.getAll();
  const sent = from?.hasPosition() === true ? positionOf(from.getPosition()) : undefined;
  const start = from?.hasEnd() === true || sent === 'end' ? log.end : sent === undefined ? 0 : afterwards(sent);
  const filter = options.getFilter();
  const rules =
    filter === undefined ? { matches: () => true, window: PAGE, checkpointEvery: Infinity } : filterOf(filter);
  const begins = like.leavesOutBelow ? start : Math.min(start, log.end);
  const isCounted = like.checkpointsEnd && filter !== undefined && sent !== undefined && sent !== 'end';
  const first = isCounted ? Math.min(sent.commit, begins) : begins;
  const ahead: Header[] = [];
  return {
    ...rules,
    begins,
    matches: (event) => event.position >= begins && rules.matches(event),
    load: loadFrom(log),
    // $all always exists: it is caught up at its end.
    fromEnd: false,
    exists: () => true,
    next: (after, limit) => {
      if (ahead.length === 0) {
        const from = after === undefined ? first : after.position + 1;
        ahead.push(
          ...(filter === undefined ? log.readAll('forwards', from, limit) : log.headers(from, limit * PAGES_AHEAD)),
        );
      }
      return ahead.splice(0, limit);
    },
  };
};

const loadFrom =
  (log: Log) =>
  (event: Header): LoggedEvent => {
    const loaded = isLoaded(event) ? event : log.at(event.position);
    if (loaded === undefined) throw new Error(`no event begins at position ${event.position}`);
    return loaded;
  };

const isLoaded = (event: Header): event is LoggedEvent => 'data' in event;

/** The first position after the given one. The event there has been seen, unless prepare shows that it has not. */
const afterwards = ({ commit, prepareBelow }: { readonly commit: number; readonly prepareBelow: boolean }): number =>
  prepareBelow ? commit : commit + 1;
