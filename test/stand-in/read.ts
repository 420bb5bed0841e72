import streams from '@eventstore/db-client/generated/streams_pb.js';

import { asStatus, BadRequest } from './errors.js';
import type { Like } from './like.js';
import type { Log, LoggedEvent } from './log.js';
import { subscribe } from './subscribe.js';
import type { Trouble } from './trouble.js';
import { eventMessage, MAX_INT64, positionOf, type ReadCall, streamName, toNumber } from './wire.js';

/** How many events are read from the log at a time. */
const PAGE = 64;

/** Read: the events of a stream or of $all; with the option for it, a subscription to them. */
export const read =
  (log: Log, like: Like, trouble: () => Trouble) =>
  (call: ReadCall): void => {
    // A broken connection ends the call; its error is not reported.
    call.on('error', () => call.end());
    try {
      const options = call.request.getOptions() ?? new streams.ReadReq.Options();
      if (options.hasSubscription()) {
        subscribe(log, like, call, options, trouble().dropAfter);
        return;
      }
      const pages = options.hasAll() ? pagesOfAll(log, options) : pagesOfStream(log, options);
      if (pages === 'silence') return;
      if (pages !== 'not found') return void give(call, pages);
      const identifier = options.getStream()?.getStreamIdentifier();
      call.write(
        new streams.ReadResp().setStreamNotFound(new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifier)),
      );
      call.end();
    } catch (error) {
      call.emit('error', asStatus(error));
    }
  };

const give = async (call: ReadCall, pages: Iterable<readonly LoggedEvent[]>): Promise<void> => {
  let wake = (): void => {};
  for (const name of ['drain', 'cancelled', 'close']) call.on(name, () => wake());
  for (const page of pages) {
    for (const event of page) {
      if (call.cancelled || call.destroyed) return;
      if (!call.write(eventMessage(event))) await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  call.end();
};

/** Pages until `count` events or the end; `next` returns what follows an event. */
function* paged(
  count: number,
  first: (limit: number) => readonly LoggedEvent[],
  next: (last: LoggedEvent, limit: number) => readonly LoggedEvent[],
): Generator<readonly LoggedEvent[]> {
  let left = count;
  let page = first(Math.min(left, PAGE));
  for (;;) {
    yield page;
    left -= page.length;
    const last = page.at(-1);
    if (last === undefined || left === 0) return;
    page = next(last, Math.min(left, PAGE));
  }
}

const directionOf = (options: streams.ReadReq.Options): 'forwards' | 'backwards' =>
  options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS ? 'backwards' : 'forwards';

const pagesOfStream = (log: Log, options: streams.ReadReq.Options): 'not found' | Iterable<readonly LoggedEvent[]> => {
  const from = options.getStream();
  const stream = streamName(from?.getStreamIdentifier());
  const direction = directionOf(options);
  const count = toNumber(BigInt(options.getCount()));
  if (count === 0) throw new BadRequest('A read of no events.');
  if (from?.hasEnd() === true && direction === 'forwards') throw new BadRequest('A read forwards from the end.');
  const revision = BigInt(from?.hasRevision() === true ? from.getRevision() : '0');
  if (revision > MAX_INT64) throw new BadRequest('This is no revision.');
  const last = log.lastRevision(stream);
  if (last === undefined) return 'not found';
  const step = direction === 'forwards' ? 1 : -1;
  return paged(
    count,
    (limit) => log.readStream(stream, direction, from?.hasEnd() === true ? last : toNumber(revision), limit),
    (event, limit) => log.readStream(stream, direction, event.revision + step, limit),
  );
};

const pagesOfAll = (log: Log, options: streams.ReadReq.Options): 'silence' | Iterable<readonly LoggedEvent[]> => {
  const direction = directionOf(options);
  const from = startOfAll(log, options.getAll(), direction);
  const count = toNumber(BigInt(options.getCount()));
  // A real server does not answer such a read either.
  if (count === 0) return 'silence';
  return paged(
    count,
    (limit) => log.readAll(direction, from, limit),
    ({ position }, limit) => log.readAll(direction, direction === 'forwards' ? position + 1 : position, limit),
  );
};

const startOfAll = (
  log: Log,
  from: streams.ReadReq.Options.AllOptions | undefined,
  direction: 'forwards' | 'backwards',
): number => {
  if (from?.hasEnd() === true) return log.end;
  if (from?.hasPosition() !== true) return 0;
  const position = positionOf(from.getPosition());
  if (position === 'end') return log.end;
  const { commit } = position;
  const beyond = commit > log.end;
  if (beyond ? direction === 'backwards' : commit > 0 && commit < log.end && log.at(commit) === undefined)
    throw new BadRequest('There is no event at this position.');
  return commit;
};
