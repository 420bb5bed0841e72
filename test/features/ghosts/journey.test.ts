import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { journeyOf, remoteJourney } from '../../../src/features/ghosts/journey.js';
import { createSessionCache, type PlayDeps } from '../../../src/features/ghosts/play-slice.js';
import { CHECKPOINT_STEPS, recordStep } from '../../../src/features/ghosts/steps-log.js';
import type { Levels } from '../../../src/features/levels/levels.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import type { Finding } from '../../../src/features/ghosts/domain/findings.js';
import { generateLevel } from '../../../src/features/levels/domain/generate.js';
import { ghostStepsStream } from '../../../src/kernel/base/stream-names.js';
import { recorded } from '../../support/histories.js';
import { watched } from '../../support/long-minds.js';
import { ManualClock } from '../../support/manual-clock.js';
import { playAllSlices } from '../../support/played-sessions.js';
import { itLong } from '../../support/long.js';

const STEPS = 6 * CHECKPOINT_STEPS + 20;
const tenant = 'studio';
const sessionId = 'g0_0_aaaaaaaaaaaaaaaa';
const stream = ghostStepsStream(tenant, sessionId);
const level = generateLevel('a place', 3);

const playedSession = async (): Promise<MemoryEventStore> => {
  const store = new MemoryEventStore();
  const clock = new ManualClock();
  const deps: PlayDeps = {
    writers: new StreamWriters(store, clock, { shared: false }),
    ...{ clock, events: store, kept: createSessionCache() },
    levels: { levelOf: () => Promise.resolve(level) } as unknown as Levels,
    pace: (work) => Promise.resolve().then(work),
    callEngine: () => Promise.reject(new Error('the policy of a goal asks no engine')),
  };
  const ref = { levelId: 'a place', version: null, digest: 'the digest', generated: true };
  const session = { tenant, sessionId, goal: 'find_bugs', seed: 3, steps: STEPS, level: ref } as const;
  await playAllSlices(deps, session);
  return store;
};

const findingAt = (fromStep: number, n: number): Finding =>
  ({ n, kind: 'engine_error', subject: 'a step', detail: '', fromStep }) as unknown as Finding;

const by = { tenant, actor: 'system', commandId: 'c', correlationId: 'c', causationId: null };
const decided = { valid: true, code: null, action: null, matched: [] };

/** A session whose body reports its position in every second step, each time another tile. */
const toldSession = async (): Promise<MemoryEventStore> => {
  const store = new MemoryEventStore();
  const writers = new StreamWriters(store, new ManualClock(), { shared: false });
  for (let step = 1; step <= STEPS; step += 1) {
    const told = step % 2 === 0 ? {} : { position: { x: step, y: 1 } };
    const data = { step, turns: [], action: null, outcome: null, remote: { told, decided, through: step } };
    await recordStep(writers, stream, by, step - 1, { type: 'GhostStepped', data });
  }
  return store;
};

describe('the journey of a session', () => {
  it('is equally short when an external body reported it [9.12a]', async () => {
    const store = await toldSession();
    const { revisions: read, store: counting } = watched(store);
    const findings = [0, 1, 300, CHECKPOINT_STEPS, 3 * CHECKPOINT_STEPS - 1, STEPS - 1].map(findingAt);
    const whole = await remoteJourney(store, stream, level, { step: STEPS, findings });
    expect(whole.places).toHaveLength(STEPS);
    expect(whole.findings.map(({ at }) => at)).toEqual(findings.map(({ fromStep }) => whole.places[fromStep]));
    const none = await remoteJourney(counting, stream, level, { step: STEPS, findings: [] }, 40);
    expect(none.places).toEqual(whole.places.slice(-40));
    expect(read.length).toBeLessThanOrEqual(41);
    const cut = await remoteJourney(store, stream, level, { step: STEPS, findings }, 40);
    expect(cut.findings).toEqual(whole.findings);
    const before = await remoteJourney(store, stream, level, { step: 30, findings: [] });
    expect(before.places).toEqual(whole.places.slice(0, 30));
  });

  it('has the last 20,000 steps of a longer one [9.12a]', async () => {
    const last = 20_100;
    const all = recorded(
      'steps',
      Array.from({ length: last }, (_, index) => {
        const told = { position: { x: index + 1, y: 1 } };
        const data = {
          step: index + 1,
          turns: [],
          action: null,
          outcome: null,
          remote: { told, decided, through: index },
        };
        return { type: 'GhostStepped', data };
      }),
    );
    const events = {
      read: (_: string, { from = 0, limit }: { readonly from?: number; readonly limit: number }) =>
        Promise.resolve({ events: all.slice(from, from + limit), lastRevision: last - 1 }),
    };
    const told = await remoteJourney(events, stream, level, { step: last, findings: [] });
    expect([told.places.length, told.places[0], told.places.at(-1)]).toEqual([
      ...[20_000, { x: 101, y: 1 }, { x: last, y: 1 }],
    ]);
    // It begins at a checkpoint.
    const { places } = await journeyOf(events, stream, level, { step: last, findings: [] });
    expect(places.length).toBeLessThanOrEqual(20_001);
    expect(places.length).toBeGreaterThan(20_001 - CHECKPOINT_STEPS);
  });

  itLong(
    'contains its last steps, and the starts of earlier findings, without reading everything [9.12a]',
    async () => {
      const store = await playedSession();
      const { revisions: read, store: counting } = watched(store);
      const findings = [0, 1, 300, CHECKPOINT_STEPS, 3 * CHECKPOINT_STEPS - 1, STEPS].map(findingAt);
      const whole = await journeyOf(store, stream, level, { step: STEPS, findings });
      expect(whole.places).toHaveLength(STEPS + 1);
      expect(whole.findings.map(({ at }) => at)).toEqual(findings.map(({ fromStep }) => whole.places[fromStep]));

      const none = await journeyOf(counting, stream, level, { step: STEPS, findings: [] }, CHECKPOINT_STEPS + 40);
      expect(none.places).toEqual(whole.places.slice(-CHECKPOINT_STEPS - 21));
      expect(read.length).toBeLessThanOrEqual(CHECKPOINT_STEPS + 22);
      const cut = await journeyOf(store, stream, level, { step: STEPS, findings }, CHECKPOINT_STEPS + 40);
      expect(cut.findings).toEqual(whole.findings);
      const before = await journeyOf(store, stream, level, { step: 30, findings: [] });
      expect(before.places).toEqual(whole.places.slice(0, 31));
    },
  );
});
