import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { EmbeddedSnapshots } from '../../../src/adapters/embedded/snapshots.js';
import { mindAsOf, requireMind } from '../../../src/features/npcs/find-mind.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { createSnapshotting } from '../../../src/kernel/streams/snapshotting.js';
import type { Json } from '../../../src/kernel/base/json.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import { appendToMind } from '../../support/long-minds.js';
import { snapshotSeals } from '../../support/seals.js';
import { settle } from '../../support/settle.js';
import { ManualClock } from '../../support/manual-clock.js';
import { onBehalf } from '../../support/streams.js';
import { runs } from '../../support/long.js';

const log = { warn: () => undefined };

/** Servers on one store that save a snapshot every few revisions, and others that ignore snapshots. */
const openServers = (every: number) => {
  const store = new MemoryEventStore();
  const clock = new ManualClock();
  const snapshots = EmbeddedSnapshots.open(':memory:');
  return {
    store,
    clock,
    snapshots,
    withSnapshots: () =>
      new StreamWriters(store, clock, {
        snapshots: createSnapshotting(
          { snapshots, clock, log, seals: snapshotSeals, isBroken: () => Promise.resolve(false) },
          { every },
        ),
      }),
    without: () => new StreamWriters(store, clock),
  };
};

const turn = fc.constantFrom('t1', 't2', 't3');
const data = fc.dictionary(fc.constantFrom('mood', 'hp', '__proto__', 'é'), fc.jsonValue({ maxDepth: 1 }));
const draft: fc.Arbitrary<EventDraft> = fc.oneof(
  fc.record({ persona: fc.string() }).map((persona) => ({ type: 'NpcUpdated', data: persona })),
  data.map((patch) => ({ type: 'StateChanged', data: { patch: json(patch) } })),
  turn.map((turnId) => ({ type: 'TurnOpened', data: { turnId } })),
  turn.map((turnId) => ({ type: 'TurnExpired', data: { turnId } })),
  turn.map((turnId) => ({ type: 'VerdictReached', data: { turnId } })),
  fc.constant({ type: 'NpcArchived', data: {} }),
  fc.constant({ type: 'OnlyLaterKnown', data: {} }),
);
/** The writes of a later server, which has more types. */
const laterFold: typeof mindFold = { ...mindFold, versionOf: (type) => mindFold.versionOf(type) ?? 1 };
const json = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

describe('a mind from a snapshot', () => {
  it('equals the mind folded from all events, at every revision and time', async () => {
    const steps = fc.array(fc.record({ drafts: fc.array(draft, { minLength: 1, maxLength: 5 }), ms: fc.nat(2) }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 7 }), async (written, every) => {
        const { clock, withSnapshots, without } = openServers(every);
        const began = clock.now().getTime();
        for (const { drafts, ms } of written) {
          await appendToMind(withSnapshots(), 'mira', drafts, laterFold);
          await clock.advance(ms);
          await settle();
          const seen = await requireMind(withSnapshots(), 'studio', 'mira');
          expect(seen).toEqual(await requireMind(without(), 'studio', 'mira'));
        }
        const moments = [
          ...Array.from({ length: written.flatMap(({ drafts }) => drafts).length + 1 }, (_, revision) => ({
            revision,
          })),
          ...Array.from({ length: clock.now().getTime() - began + 2 }, (_, ms) => ({ timeMs: began - 1 + ms })),
        ];
        for (const moment of moments) {
          const seen = await mindAsOf(withSnapshots(), 'studio', 'mira', moment);
          expect(seen).toEqual(await mindAsOf(without(), 'studio', 'mira', moment));
        }
      }),
      { numRuns: runs(15, 60) },
    );
  });

  it('stays archived, and is revived by an event after the snapshot', async () => {
    const { withSnapshots } = openServers(2);
    const expired: EventDraft = { type: 'TurnExpired', data: { turnId: 't' } };
    await appendToMind(withSnapshots(), 'mira', [
      { type: 'NpcRegistered', data: { persona: 'Mira', data: { hp: 1 } } },
      { type: 'NpcArchived', data: {} },
      expired,
    ]);
    await settle();
    expect(await requireMind(withSnapshots(), 'studio', 'mira')).toMatchObject({ archived: true, data: { hp: 1 } });
    await appendToMind(withSnapshots(), 'mira', [{ type: 'StateChanged', data: { patch: { hp: 2 } } }]);
    expect(await requireMind(withSnapshots(), 'studio', 'mira')).toMatchObject({ archived: false, data: { hp: 2 } });
    expect(await mindAsOf(withSnapshots(), 'studio', 'mira', { revision: 2 })).toMatchObject({ archived: true });
  });

  it('belongs to its own tenant', async () => {
    const { withSnapshots } = openServers(1);
    for (const tenant of ['studio', 'other']) {
      const writer = await withSnapshots().open(npcStream(tenant, 'mira'), mindFold);
      const drafts = ['first', 'second'].map((which) => ({
        type: 'NpcUpdated',
        data: { persona: `${which} of ${tenant}` },
      }));
      await writer.append(drafts, { ...onBehalf('x'), tenant }, 0);
      await settle();
    }
    for (const tenant of ['studio', 'other']) {
      expect((await requireMind(withSnapshots(), tenant, 'mira')).persona).toBe(`second of ${tenant}`);
    }
  });
});
