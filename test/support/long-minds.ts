import { mindFold } from '../../src/app/minds/mind.js';
import type { EventDraft } from '../../src/app/streams/lane.js';
import type { Lanes } from '../../src/app/streams/lanes.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { npcStream } from '../../src/domain/shared/stream-names.js';
import type { Moment, Snapshot, Snapshots } from '../../src/ports/snapshots.js';
import { onBehalf, storeWith } from './streams.js';

/** How many events one append takes. */
const APPENDED = 500;

/** Appends drafts to a mind of the tenant `studio`, as many at once as fit. @throws Error when another writer was faster */
export const appendToMind = async (lanes: Lanes, npcId: string, drafts: readonly EventDraft[]): Promise<void> => {
  for (let from = 0; from < drafts.length; from += APPENDED) {
    const lane = await lanes.open(npcStream('studio', npcId), mindFold);
    const context = onBehalf(`command-${String(lane.revision)}`);
    const outcome = await lane.append(lane.place(drafts.slice(from, from + APPENDED), context, 0));
    if (!outcome.ok) throw new Error(`somebody wrote up to ${String(outcome.actual)}`);
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

/** Resolves when the work started after an answer is done. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};
