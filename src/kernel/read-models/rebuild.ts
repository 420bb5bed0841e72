import { READ_BYTES } from '../base/page-size.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Projection } from '../../ports/read-models.js';
import type { ReadModelWriter } from '../../ports/read-model-writer.js';
import { commitGathered } from './apply-events.js';
import { type Feed, feedOf, type Portion } from './feed.js';
import { type Gathered, gatherEvents, nothingGathered } from './gather-events.js';

/** How many events one read fetches: few, so that they are freed before they are promoted to the old generation, where garbage is costly. */
const READ_EVENTS = 512;
/**
 * How many reads are gathered before a write, so that a row that many events change is written once. A read ends near READ_BYTES, so the number of
 * reads bounds the bytes of new events. The bytes of rows already stored are counted separately.
 */
const COMMIT_READS = 64;
const COMMIT: Portion = { rows: 16_384, bytes: COMMIT_READS * READ_BYTES, units: Infinity };

export type RebuildProgress = {
  /** Events applied so far. */
  readonly events: number;
  /** The global position reached so far; `last` is the last one at the start. */
  readonly position: number;
  readonly last: number;
};

export type Rebuilt = { readonly events: number; readonly parked: number };

/**
 * Rebuilds every read model from the events and swaps it in, while no server runs. If it is stopped, the old ones remain unchanged.
 * @throws what the event store and the writer throw
 */
export const rebuild = async (
  { events, writer, clock }: { readonly events: EventStore; readonly writer: ReadModelWriter; readonly clock: Clock },
  projections: readonly Projection[],
  onProgress: (progress: RebuildProgress) => void = () => undefined,
): Promise<Rebuilt> => {
  const feeds: Feed[] = [];
  for (const projection of projections) {
    feeds.push(feedOf(projection, await writer.begin(projection)));
  }
  const last = await events.lastPosition();
  const rebuilt = { events: 0, parked: 0 };
  const gathering = feeds.map((feed) => ({ feed, gathered: nothingGathered(), reads: 0 }));
  const commit = async (of: Gathering): Promise<void> => {
    if (!(await commitGathered(writer, of.feed, of.gathered)))
      throw new Error('Another process is writing these read models.');
    rebuilt.parked += of.gathered.parked.length;
    of.gathered = nothingGathered();
    of.reads = 0;
  };
  for (let position = 0; ;) {
    const batch = await events.readAll(position, READ_EVENTS);
    if (batch.length === 0) break;
    position = batch.at(-1)?.position ?? position;
    for (const of of gathering) {
      const at = clock.now().toISOString();
      of.reads += 1;
      for (let rest = batch; rest.length > 0;) {
        rest = rest.slice(await gatherEvents(writer, of.feed, of.gathered, rest, at, COMMIT));
        if (isEnough(of)) await commit(of);
      }
    }
    rebuilt.events += batch.length;
    onProgress({ events: rebuilt.events, position, last });
  }
  for (const of of gathering) await commit(of);
  for (const feed of feeds) await writer.swapIn(feed.build);
  return rebuilt;
};

/** `reads` is how many reads were gathered. */
type Gathering = { readonly feed: Feed; gathered: Gathered; reads: number };

const isEnough = ({ gathered: { rows, counts, bytes }, reads }: Gathering): boolean =>
  reads >= COMMIT_READS || rows.size >= COMMIT.rows || counts.size >= COMMIT.rows || bytes >= COMMIT.bytes;
