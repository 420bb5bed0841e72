import type { RecordedEvent } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { Projection } from '../../ports/read-models.js';
import type { Changes, ReadModelWriter } from '../../ports/read-model-writer.js';
import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import { type Feed, grow, shrink } from './feed.js';
import { type Gathered, gatherEvents, nothingGathered, type Parked } from './gather-events.js';

/** The maximum number of times that events are folded again because another writer moves one of their streams or partitions. */
export const COMMIT_ATTEMPTS = 8;

const changesOf = (projection: Projection, { rows, streams, counts, parked, position }: Gathered): Changes => {
  const put: Changes['put'][number][] = [];
  const remove: string[] = [];
  const hasTexts = projection.textOf !== undefined;
  const hasPassages = projection.passagesOf !== undefined;
  for (const [key, { stream, indexed, group, stored, changed, row, index }] of rows) {
    if (row !== null && index !== null)
      put.push({
        key,
        row,
        index,
        ...(hasTexts ? { search: { stream, text: indexed.text, group } } : {}),
        ...(hasPassages ? { passages: indexed.passages } : {}),
      });
    else if (stored && changed) remove.push(key);
  }
  const progress: Changes['progress'][number][] = [];
  for (const [stream, { from, to }] of streams) if (to > from) progress.push({ stream, from, to });
  return { put, remove, ...(counts.size === 0 ? {} : { counts: [...counts.values()] }), progress, parked, position };
};

/**
 * Writes what is gathered, and its progress, in one transaction.
 * @returns false if another writer moved one of the streams: nothing was written, gather again
 * @throws what the writer throws; in that case, too, nothing was written
 */
export const commitGathered = async (writer: ReadModelWriter, feed: Feed, gathered: Gathered): Promise<boolean> => {
  const position = Math.max(gathered.position, feed.build.position);
  const changes = { ...changesOf(feed.projection, gathered), position };
  try {
    if (!(await writer.commit(feed.build, changes))) return false;
  } catch (error) {
    shrink(feed);
    throw error;
  }
  // Not if there was nothing to write: after a failure the portion would grow too large again before anything new is written.
  if (changes.put.length + changes.remove.length + gathered.counts.size > 0) grow(feed);
  feed.build = { ...feed.build, position };
  return true;
};

/** The error for events that could not be applied in COMMIT_ATTEMPTS. */
export const othersKeptMoving = ({ projection }: Feed): Error =>
  new Error(`Another writer kept moving ${projection.name}; the events were not applied.`);

/** Logs each parked event, after which its stream is no longer applied. */
export const logParked = (log: Pick<Log, 'error'>, { projection }: Feed, parked: readonly Parked[]): void => {
  const { name, version } = projection;
  for (const event of parked) {
    log.error({ projection: name, version, ...event }, 'Parked an event that cannot be applied; its stream stops here');
  }
};

/**
 * Applies events to a build, in one transaction unless they touch too many rows for one, or rows that are too large. Redelivered events change
 * nothing.
 * @returns the events that were parked
 * @throws what gatherEvents and commitGathered throw: nothing of the last transaction was written then
 */
export const applyEvents = async (
  writer: ReadModelWriter,
  feed: Feed,
  events: readonly RecordedEvent[],
  at: string,
): Promise<readonly Parked[]> => {
  const parked: Parked[] = [];
  let rest = events;
  let attempt = 0;
  do {
    const gathered = nothingGathered();
    const taken = await gatherEvents(writer, feed, gathered, rest, at);
    if (await commitGathered(writer, feed, gathered)) {
      parked.push(...gathered.parked);
      rest = rest.slice(taken);
      attempt = 0;
      if (rest.length > 0) await yieldToEventLoop();
    } else if ((attempt += 1) === COMMIT_ATTEMPTS) {
      throw othersKeptMoving(feed);
    }
  } while (rest.length > 0);
  return parked;
};
