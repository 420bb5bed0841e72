import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import type { Pace } from '../../../src/features/ghosts/pace.js';
import {
  createSessionCache,
  type PlayDeps,
  type PlayedSession,
  playSlice,
} from '../../../src/features/ghosts/play-slice.js';
import { createPlayCache, type RemoteStepDeps } from '../../../src/features/ghosts/remote-steps.js';
import { closeAndReport, reportSession } from '../../../src/features/ghosts/report.js';
import { CHECKPOINT_STEPS, type RecordedStep } from '../../../src/features/ghosts/steps-log.js';
import type { Levels } from '../../../src/features/levels/levels.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { generateLevel } from '../../../src/features/levels/domain/generate.js';
import type { Level } from '../../../src/features/levels/domain/level.js';
import { SLOW_STEP_MS } from '../../../src/features/ghosts/domain/step-times.js';
import { ghostStepsStream } from '../../../src/kernel/base/stream-names.js';
import { ManualClock } from '../../support/manual-clock.js';
import { playAllSlices, stepsIn as recordedSteps } from '../../support/played-sessions.js';
import { itLong } from '../../support/long.js';

const tenant = 'studio';
const sessionId = 'g0_0_aaaaaaaaaaaaaaaa';
const stream = ghostStepsStream(tenant, sessionId);
const level = generateLevel('a place', 3);
const session: PlayedSession = {
  ...{ tenant, sessionId, goal: 'find_bugs', seed: 3, steps: 2 * CHECKPOINT_STEPS + 20 },
  level: { levelId: 'a place', version: null, digest: 'the digest', generated: true },
};
const never = new AbortController().signal;
const atOnce: Pace = (work) => Promise.resolve().then(work);

/** The dependencies of one process that plays; `turn` runs before each piece of work. */
const processOf = (
  store: MemoryEventStore,
  { turn = () => undefined, played = level }: { readonly turn?: () => void; readonly played?: Level | null } = {},
): PlayDeps & RemoteStepDeps => {
  const clock = new ManualClock();
  const levels = { levelOf: () => Promise.resolve(played) } as unknown as Levels;
  const pace: Pace = (work) => {
    turn();
    return atOnce(work);
  };
  const writers = new StreamWriters(store, clock, { shared: true });
  const callEngine = (): Promise<string> => Promise.reject(new Error('the policy of a goal asks no engine'));
  const plays = createPlayCache();
  return { writers, clock, levels, pace, callEngine, events: store, kept: createSessionCache(), plays };
};

const playAll = (deps: PlayDeps, signal = never): Promise<void> => playAllSlices(deps, session, signal);
const stepsIn = (store: MemoryEventStore): Promise<readonly RecordedStep[]> => recordedSteps(store, stream);
const playUndisturbed = async (): Promise<readonly RecordedStep[]> => {
  const store = new MemoryEventStore();
  await playAll(processOf(store));
  return stepsIn(store);
};
let whole: Promise<readonly RecordedStep[]> | undefined;
const undisturbed = (): Promise<readonly RecordedStep[]> => (whole ??= playUndisturbed());

describe('slices of a session', () => {
  it('record each step once, with regular checkpoints [9.8j]', async () => {
    const steps = await undisturbed();
    expect(steps.map(({ step, revision }) => [step, revision])).toEqual(
      Array.from({ length: session.steps }, (_, index) => [index + 1, index]),
    );
    const withCheckpoint = steps.filter(({ checkpoint }) => checkpoint !== undefined).map(({ step }) => step);
    expect(withCheckpoint).toEqual([CHECKPOINT_STEPS, 2 * CHECKPOINT_STEPS]);
  });

  it.each([1, 7, CHECKPOINT_STEPS, CHECKPOINT_STEPS + 3, 2 * CHECKPOINT_STEPS + 10])(
    'continue unchanged in another process without any state (after %i pieces of work)',
    async (pieces) => {
      const store = new MemoryEventStore();
      const stopping = new AbortController();
      let done = 0;
      const turn = (): void => {
        done += 1;
        if (done === pieces) stopping.abort(new Error('killed'));
      };
      await expect(playAll(processOf(store, { turn }), stopping.signal)).rejects.toThrow('killed');
      expect((await stepsIn(store)).length).toBeLessThan(session.steps);
      await playAll(processOf(store));
      expect(await stepsIn(store)).toEqual(await undisturbed());
    },
  );

  it('are played once when several processes play at the same time', async () => {
    const store = new MemoryEventStore();
    await Promise.all([playAll(processOf(store)), playAll(processOf(store)), playAll(processOf(store))]);
    expect(await stepsIn(store)).toEqual(await undisturbed());
  });

  it('end with the report: a process still playing then records nothing, and a repeat returns the same report [9.3c, 9.4a]', async () => {
    const store = new MemoryEventStore();
    const [player, reporter] = [processOf(store), processOf(store)];
    const stopping = new AbortController();
    const playing = playAll(player, stopping.signal);
    for (let look = 0; (await stepsIn(store)).length < 5; look += 1) expect(look).toBeLessThan(10_000);
    const report = await closeAndReport(reporter, session);
    await playing;
    expect(await stepsIn(store)).toHaveLength(report.step);
    expect(await closeAndReport(processOf(store), session)).toEqual(report);
    const answer = { ...session, name: 'running' } as unknown as Parameters<typeof reportSession>[2];
    expect((await reportSession(processOf(store), tenant, answer)).report).toMatchObject({ step: report.step });
  });

  it('are never shown as running after the session has ended, even while a process still plays [9.3c]', async () => {
    const store = new MemoryEventStore();
    const [player, reader] = [processOf(store), processOf(store)];
    const as = (name: string) => ({ ...session, name }) as unknown as Parameters<typeof reportSession>[2];
    const playing = playAll(player);
    for (let look = 0; (await stepsIn(store)).length < 5; look += 1) expect(look).toBeLessThan(10_000);
    const goesOn = 'The session is not over.';
    expect(JSON.stringify((await reportSession(reader, tenant, as('running'))).report.tests)).toContain(goesOn);
    const ended = await reportSession(reader, tenant, as('ending'));
    expect(ended.session).toMatchObject({ name: 'over', step: ended.report.step, report: ended.report });
    expect(JSON.stringify(ended.report.tests)).not.toContain(goesOn);
    await playing;
    expect(await closeAndReport(processOf(store), session)).toEqual(ended.report);
  });

  it('keep the duration of each step, also in a process that did not play them [9.9k, 9.9m]', async () => {
    const store = new MemoryEventStore();
    const deps = processOf(store);
    let nowMs = 0;
    // Each look at the clock counts as this much work.
    const clock = Object.assign(new ManualClock(), { monotonicMs: () => (nowMs += SLOW_STEP_MS + 1) });
    await playAll({ ...deps, clock });
    expect((await stepsIn(store)).every(({ ms = 0 }) => ms > SLOW_STEP_MS)).toBe(true);
    const { findings, metrics } = await closeAndReport(processOf(store), session);
    expect(findings.at(-1)).toMatchObject({ kind: 'slow_step', fromStep: 1, count: session.steps });
    expect(metrics).toContainEqual(['stepMs.slowest', expect.any(Number)]);
  });

  it('do not begin when the level is lost [9.8f]', async () => {
    const deps = processOf(new MemoryEventStore(), { played: null });
    await expect(playSlice(deps, session, never)).rejects.toMatchObject({ code: 'LEVEL_NOT_FOUND' });
  });

  itLong('end when the minds exceed the size of a checkpoint', async () => {
    // No legal level has a persona this long; with it, the test needs no crowd.
    const played = { ...level, persona: 'x'.repeat(700_000) };
    const deps = processOf(new MemoryEventStore(), { played });
    await expect(playAll(deps)).rejects.toMatchObject({ code: 'DATA_TOO_LARGE' });
  });
});
