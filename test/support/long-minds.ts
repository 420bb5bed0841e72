import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { MemoryEventStore } from './memory/event-store.js';
import { EmbeddedSnapshots } from '../../src/adapters/embedded/snapshots.js';
import { mindFold } from '../../src/features/npcs/mind-fold.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { createSnapshotting } from '../../src/kernel/streams/snapshotting.js';
import type { EventChecks } from '../../src/kernel/streams/event-checks.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { Moment, Snapshot, Snapshots } from '../../src/ports/snapshots.js';
import { ManualClock } from './manual-clock.js';
import { snapshotSeals } from './seals.js';
import { settle } from './settle.js';
import { onBehalf, storeWith } from './streams.js';

/** The version under which snapshots of minds are saved. */
export const MIND_VERSION = mindFold.snapshots?.version ?? 0;

/** How many events one append takes. */
const APPENDED = 500;

/** Appends drafts to a mind of the tenant `studio`, as many per append as fit. @throws Error when another writer was faster */
export const appendToMind = async (
  writers: StreamWriters,
  npcId: string,
  drafts: readonly EventDraft[],
  fold = mindFold,
): Promise<void> => {
  for (let from = 0; from < drafts.length; from += APPENDED) {
    const writer = await writers.open(npcStream('studio', npcId), fold);
    const context = onBehalf(`command-${String(writer.revision)}`);
    const recorded = await writer.append(drafts.slice(from, from + APPENDED), context, 0);
    if (recorded === null) throw new Error('another writer was faster');
  }
};

/** Drafts that give a mind the personas `p<from>`, `p<from + 1>` and so on; each shows the revision at which it was set. */
export const personas = (count: number, from = 0): readonly EventDraft[] =>
  Array.from({ length: count }, (_, n) => ({ type: 'NpcUpdated', data: { persona: `p${String(from + n)}` } }));

/** The same store; `revisions` are those of the events that were read. */
export const watched = (store: EventStore) => {
  const revisions: number[] = [];
  return {
    revisions,
    store: storeWith(store, {
      read: async (stream, range) => {
        const page = await store.read(stream, range);
        revisions.push(...page.events.map(({ revision }) => revision));
        return page;
      },
    }),
  };
};

/** Snapshots with some of the calls replaced. */
export const snapshotsWith = (snapshots: Snapshots, replaced: Partial<Snapshots>): Snapshots => ({
  latest: (stream: string, version: number, moment: Moment) => snapshots.latest(stream, version, moment),
  save: (snapshot: Snapshot) => snapshots.save(snapshot),
  ...replaced,
});

/** Servers over one event store and one snapshot store; `warnings` is their log. */
export const snapshotServers = ({
  store = new MemoryEventStore(),
  snapshots = EmbeddedSnapshots.open(':memory:'),
  every,
  isBroken = () => Promise.resolve(false),
}: {
  readonly store?: EventStore;
  readonly snapshots?: Snapshots;
  readonly every?: number;
  readonly isBroken?: EventChecks['isBroken'];
} = {}) => {
  const clock = new ManualClock();
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => void warnings.push(message) };
  const server = (over: Snapshots = snapshots, events = store): StreamWriters => {
    const options = every === undefined ? {} : { every };
    return new StreamWriters(events, clock, {
      snapshots: createSnapshotting({ snapshots: over, clock, log, seals: snapshotSeals, isBroken }, options),
    });
  };
  const saved = async (stream = npcStream('studio', 'mira')): Promise<readonly number[]> => {
    const revisions: number[] = [];
    for (let last = Number.MAX_SAFE_INTEGER; ;) {
      const next = await snapshots.latest(stream, MIND_VERSION, { revision: last });
      if (next === null) return revisions.reverse();
      revisions.push(next.revision);
      last = next.revision - 1;
    }
  };
  return { store, snapshots, clock, warnings, server, saved };
};

/** A mind of 2,500 events with its snapshots. */
export const longMind = async () => {
  const minds = snapshotServers();
  await appendToMind(minds.server(), 'mira', personas(2_500));
  await settle();
  return minds;
};

/** The state of a mind of the tenant `studio` as a server loads it. */
export const load = async (writers: StreamWriters, npcId = 'mira') =>
  (await writers.open(npcStream('studio', npcId), mindFold)).state;
