import { npcs } from '../../../projections/npcs.js';
import { isLeaf, isPlace } from './domain/leaf.js';
import { firstKinds, type LoggedKind, logOf, logOfEvent } from './domain/logged-streams.js';
import type { EventFaults, JudgeEvent } from './audit-event.js';
import type { LogEvent } from './domain/events.js';
import type { UnknownEvent } from '../../kernel/base/decoder.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { rowKey } from '../../kernel/read-models/row-key.js';
import { GENESIS_HASH, storedHash } from '../../kernel/streams/hash-chain.js';
import { eventAt, pagesOf } from '../../kernel/streams/stream-pages.js';
import { logStream } from '../../kernel/base/stream-names.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { ReadModels } from '../../ports/read-models.js';

/** How many events are read at a time. */
const PAGE = 500;
/** A call ends after it has read this many events, whosever they are: some seconds of work. */
export const ORDER_READ = 400_000;

/**
 * Where the order is read from. A server begins at 1, but whoever writes to the store may choose other positions, and streams show such events like
 * all others. No store can read an event from below this place at all. Every event of a stream is therefore met here, and no head has to be compared
 * with more than its hash.
 */
const BEGINNING = -(2 ** 53);

export type OrderDeps = {
  readonly events: Pick<EventStore, 'read' | 'readAll'>;
  readonly readModels: Pick<ReadModels, 'get' | 'reachedPosition'>;
  readonly judge: JudgeEvent;
  /** A stored event of the log; null if it was changed so that it is not one. */
  readonly logEventIn: (event: RecordedEvent) => Promise<LogEvent | UnknownEvent | null>;
};

/** The place at which a check begins. */
export const FIRST_PLACE: OrderPlace = { position: BEGINNING, log: 0 };

/** Where the check continues: after a global position, and with the round of the log that begins at a revision. */
export type OrderPlace = { readonly position: number; readonly log: number };

/** What is found on the way. */
export type OrderFindings = {
  readonly isFull: boolean;
  /** An event of the tenant was checked. */
  checked(stream: string): void;
  judged(event: RecordedEvent, faults: EventFaults): void;
  wrong(stream: string, revision: number, reason: string): void;
};

/** One round of a log: what it says about the events up to `until`. */
type Round = {
  readonly until: number;
  readonly kinds: ReadonlySet<LoggedKind>;
  readonly heads: ReadonlyMap<string, number>;
  /** The revision of the log at which the round begins, and the one after its last batch. */
  readonly begins: number;
  readonly ends: number;
};

const kindsIn = (kinds: unknown): readonly LoggedKind[] =>
  Array.isArray(kinds) ? (kinds as LoggedKind[]) : firstKinds;

/** The first complete round of a log from a revision on; null if there is none. A log in a form that is not one is reported elsewhere. */
const roundFrom = async ({ events, logEventIn }: OrderDeps, tenant: string, from: number): Promise<Round | null> => {
  const heads = new Map<string, number>();
  const take = (leaves: unknown): void => {
    for (const leaf of Array.isArray(leaves) ? leaves.filter(isLeaf) : [])
      heads.set(leaf.stream, Math.max(leaf.revision, heads.get(leaf.stream) ?? 0));
  };
  let [begins, until, kinds]: [number, number, readonly LoggedKind[]] = [-1, 0, firstKinds];
  for await (const page of pagesOf(events, logStream(tenant), { direction: 'forwards', from })) {
    for (const recorded of page.events) {
      const event = await logEventIn(recorded);
      if (event?.type === 'CheckpointBegun') {
        heads.clear();
        [begins, until, kinds] = [
          recorded.revision,
          isPlace(event.data.until) ? event.data.until : 0,
          kindsIn(event.data.kinds),
        ];
      } else if (event?.type === 'LeavesLogged' && begins >= 0) {
        // An older server may have gathered a batch of the round: it takes only minds.
        kinds = event.data.kinds === undefined ? firstKinds : kinds;
        take(event.data.leaves);
      } else if (event?.type === 'CheckpointSigned' && begins >= 0)
        return { until, kinds: new Set(kinds), heads, begins, ends: recorded.revision + 1 };
    }
    await yieldToEventLoop();
  }
  return null;
};

/** The rounds of a log one after the other, each in memory until a position beyond it is asked for. */
const openRounds = (deps: OrderDeps, tenant: string, from: number) => {
  let round: Round | null | undefined;
  return {
    /** The round that holds the heads up to a position; null beyond the last one. */
    at: async (position: number): Promise<Round | null> => {
      if (round === undefined) round = await roundFrom(deps, tenant, from);
      while (round !== null && round.until < position) round = await roundFrom(deps, tenant, round.ends);
      return round;
    },
    /** Where to begin again. */
    get begins(): number {
      return round?.begins ?? from;
    },
  };
};

/**
 * Checks every event of a tenant that its log holds, in the global order: its content, its seal and its place in its stream, and whether the round of
 * the log that covers it knows the stream. So a stream under another name is found, and no list of minds is trusted. Each mind must also be in the
 * list of NPCs, unless that is still behind. Work is divided by events. A call ends when the findings are full, or after ORDER_READ events of all
 * tenants.
 * @returns where to continue; null at the end
 * @throws what the event store and the read models throw
 */
export const auditOrder = async (
  deps: OrderDeps,
  tenant: string,
  place: OrderPlace,
  found: OrderFindings,
): Promise<OrderPlace | null> => {
  const { events, readModels, judge } = deps;
  const rounds = openRounds(deps, tenant, place.log);
  const last = new Map<string, { readonly revision: number; readonly hash: string }>();
  const unlogged = new Set<string>();
  const before = async ({ stream, revision }: RecordedEvent): Promise<{ revision: number; hash: string }> => {
    const known = last.get(stream);
    if (known !== undefined) return known;
    if (revision === 0) return { revision: -1, hash: GENESIS_HASH };
    const event = await eventAt(events, stream, revision - 1);
    return { revision: revision - 1, hash: event === undefined ? '' : storedHash(event) };
  };
  const checkChain = async (event: RecordedEvent): Promise<void> => {
    const previous = await before(event);
    const { stream, revision } = event;
    if (revision !== previous.revision + 1)
      found.wrong(stream, revision, `it was stored after revision ${String(previous.revision)} of its stream`);
    found.judged(event, await judge(event, previous.hash));
    last.set(stream, { revision, hash: storedHash(event) });
  };
  const checkLogged = async ({ stream, revision, position, type }: RecordedEvent): Promise<void> => {
    const log = logOfEvent({ stream, type });
    const round = log === null ? null : await rounds.at(position);
    if (log === null || round?.kinds.has(log.kind) !== true || unlogged.has(stream)) return;
    const head = round.heads.get(stream);
    if (head !== undefined && head >= revision) return;
    unlogged.add(stream);
    found.wrong(stream, revision, 'the log was made without it: it was renamed, inserted, moved or changed');
  };
  const isListed = async (stream: string): Promise<boolean> =>
    (await readModels.get(npcs, rowKey(stream, ''))) !== null;
  const checkListed = async ({ stream, revision, position }: RecordedEvent, kind: LoggedKind): Promise<void> => {
    if (revision > 0 || kind !== 'npc' || (await isListed(stream))) return;
    // Not what the list says of its progress with this mind: whoever deletes a row can delete that as well.
    if (!(await readModels.reachedPosition(npcs, position, 0)) || (await isListed(stream))) return;
    found.wrong(stream, revision, 'the list of NPCs lacks it: "anima rebuild" makes the read models anew');
  };
  for (let [at, read] = [place.position, 0]; ;) {
    const page = await events.readAll(at, PAGE);
    const end = page.at(-1);
    if (end === undefined) return null;
    if (read >= ORDER_READ) return { position: at, log: rounds.begins };
    for (const event of page) {
      const log = logOf(event.stream);
      if (log?.tenant !== tenant) continue;
      if (found.isFull) return { position: event.position - 1, log: rounds.begins };
      await checkChain(event);
      await checkLogged(event);
      await checkListed(event, log.kind);
      found.checked(event.stream);
      await yieldToEventLoop();
    }
    at = end.position;
    read += page.length;
    await yieldToEventLoop();
  }
};
