import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { createGhostEngines, TEXT_BYTES } from '../../../src/features/ghosts/call-engines.js';
import {
  createSessionCache,
  loadSession,
  type PlayDeps,
  type PlayedSession,
  playSlice,
  SLICE_MS,
} from '../../../src/features/ghosts/play-slice.js';
import { createPlayCache } from '../../../src/features/ghosts/remote-steps.js';
import { closeAndReport } from '../../../src/features/ghosts/report.js';
import { CHECKPOINT_STEPS, type RecordedStep } from '../../../src/features/ghosts/steps-log.js';
import type { Levels } from '../../../src/features/levels/levels.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { generateLevel } from '../../../src/features/levels/domain/generate.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { ghostStepsStream } from '../../../src/kernel/base/stream-names.js';
import type { CortexEngine } from '../../../src/ports/cortex.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import type { AppendFault } from '../../contracts/process-runtime.js';
import { fakeCortex } from '../../support/fake-cortex.js';
import { faulty } from '../../support/faulty-store.js';
import { walkOn } from '../../support/ghost-model.js';
import { ManualClock } from '../../support/manual-clock.js';
import { playAllSlices, stepsIn as recordedSteps } from '../../support/played-sessions.js';
import { settle } from '../../support/settle.js';

const tenant = 'studio';
const sessionId = 'g0_0_aaaaaaaaaaaaaaaa';
const level = generateLevel('a place', 3);
const session: PlayedSession = {
  ...{ tenant, sessionId, goal: 'find_bugs', seed: 3, steps: CHECKPOINT_STEPS + 20, engine: 'fake' },
  level: { levelId: 'a place', version: null, digest: 'the digest', generated: true },
};
const never = new AbortController().signal;
const down = new Rejection('CORTEX_UNAVAILABLE', { retryAfter: 1 });

/** The dependencies of one process that plays. */
const processOf = (
  store: MemoryEventStore,
  engine: CortexEngine | null,
  { events = store, clock = new ManualClock() }: { readonly events?: EventStore; readonly clock?: ManualClock } = {},
): PlayDeps => {
  return {
    writers: new StreamWriters(events, clock, { shared: true }),
    levels: { levelOf: () => Promise.resolve(level) } as unknown as Levels,
    ...{ clock, events: store, kept: createSessionCache() },
    pace: (work) => Promise.resolve().then(work),
    callEngine: createGhostEngines({ engines: { find: () => engine }, clock, texts: 1 }).ask,
  };
};
const walker = () => fakeCortex(({ prompt }) => Promise.resolve(walkOn(prompt)));

const playAll = (deps: PlayDeps, signal = never): Promise<void> => playAllSlices(deps, session, signal);
const stepsIn = (store: MemoryEventStore): Promise<readonly RecordedStep[]> =>
  recordedSteps(store, ghostStepsStream(tenant, sessionId));
const textOf = ({ turns }: RecordedStep): unknown =>
  turns[0]?.events.find(({ type }) => type.startsWith('Verdict'))?.data['generatedOutput'];

describe('a session that an engine plays', () => {
  it('records each text in its step, and asks for each once, with everything that a turn gives a model [9.8p, 9.8t]', async () => {
    const store = new MemoryEventStore();
    const { engine, asked } = walker();
    await playAll(processOf(store, engine));
    const steps = await stepsIn(store);
    expect(steps).toHaveLength(session.steps);
    expect(asked).toHaveLength(session.steps);
    expect(steps.map(textOf)).toEqual(asked.map(({ prompt }) => walkOn(prompt)));
    expect(asked[9]).toMatchObject({ maxTokens: expect.any(Number) as number });
    expect(asked[9]?.prompt).toContain('Your task: find what is wrong with the level');
    expect(steps.filter(({ probe }) => probe !== undefined)).toEqual([]);
  });

  it('continues in another process without asking again for a recorded text [9.8t]', async () => {
    const whole = new MemoryEventStore();
    await playAll(processOf(whole, walker().engine));
    const store = new MemoryEventStore();
    let asked = 0;
    for (const calls of [7, CHECKPOINT_STEPS - 10, 13]) {
      const stopping = new AbortController();
      const killed = fakeCortex(({ prompt }) => {
        if (killed.asked.length < calls) return Promise.resolve(walkOn(prompt));
        stopping.abort(new Error('killed'));
        return Promise.reject(new Error('killed'));
      });
      await expect(playAll(processOf(store, killed.engine), stopping.signal)).rejects.toThrow('killed');
      asked += killed.asked.length;
    }
    const last = walker();
    await playAll(processOf(store, last.engine));
    // Only the three texts that were in progress are requested again.
    expect(asked + last.asked.length).toBe(session.steps + 3);
    expect(await stepsIn(store)).toEqual(await stepsIn(whole));
  });

  it('asks for each text once when two processes alternate slices', async () => {
    const store = new MemoryEventStore();
    const clock = new ManualClock();
    const { engine, asked } = fakeCortex(async ({ prompt }) => {
      await clock.advance(SLICE_MS + 1);
      return walkOn(prompt);
    });
    const workers = [processOf(store, engine, { clock }), processOf(store, engine, { clock })];
    for (let over = false, slices = 0; !over; slices += 1) {
      const input = await playSlice(workers[slices % 2] as PlayDeps, { ...session, steps: 20 }, never);
      over = input.type === 'played' && input.over;
    }
    expect(asked).toHaveLength(20);
  });

  it('is loaded and reported without its engine [9.8t]', async () => {
    const store = new MemoryEventStore();
    const deps = processOf(store, walker().engine);
    await playAll(deps);
    const without = processOf(store, null);
    const { state } = await loadSession(without, session);
    expect(state).toEqual(JSON.parse(JSON.stringify(deps.kept.get(`${tenant} ${sessionId}`))));
    expect(await closeAndReport({ ...without, plays: createPlayCache() }, session)).toMatchObject({
      step: session.steps,
    });
  });

  it('records nothing while the engine is down or absent, and continues with the same step [9.8u]', async () => {
    const store = new MemoryEventStore();
    let up = true;
    const { engine, asked } = fakeCortex(({ prompt }) => {
      if (up) up = asked.length !== 5;
      return up ? Promise.resolve(walkOn(prompt)) : Promise.reject(down);
    });
    const deps = processOf(store, engine);
    for (let tries = 0; tries < 3; tries += 1) await expect(playSlice(deps, session, never)).rejects.toBe(down);
    expect(await stepsIn(store)).toHaveLength(4);
    const away = processOf(store, null);
    await expect(playSlice(away, session, never)).rejects.toMatchObject({ code: 'CORTEX_UNAVAILABLE', retryAfter: 1 });
    up = true;
    await playAll(deps);
    expect(await stepsIn(store)).toHaveLength(session.steps);
    expect(asked).toHaveLength(session.steps + 3);
  });

  it('does not ask again for a recorded text if the acknowledgement of the store was lost', async () => {
    const store = new MemoryEventStore();
    const { engine, asked } = walker();
    const fault: AppendFault = { at: 'none' };
    const deps = processOf(store, engine, { events: faulty(store, fault) });
    await playSlice(deps, { ...session, steps: 4 }, never);
    fault.at = 'after';
    await expect(playSlice(deps, session, never)).rejects.toThrow();
    fault.at = 'none';
    await playAll(deps);
    expect(await stepsIn(store)).toHaveLength(session.steps);
    expect(asked).toHaveLength(session.steps);
  });

  it('cancels a running call when it is stopped, and records no step for it [9.8u]', async () => {
    const store = new MemoryEventStore();
    let ended: AbortSignal | undefined;
    const { engine, asked } = fakeCortex(({ prompt }, signal) => {
      if (asked.length < 3) return Promise.resolve(walkOn(prompt));
      ended = signal;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    const stopping = new AbortController();
    const playing = expect(playSlice(processOf(store, engine), session, stopping.signal)).rejects.toThrow('stopped');
    for (let look = 0; ended === undefined; look += 1) {
      expect(look).toBeLessThan(1_000);
      await settle(1);
    }
    stopping.abort(new Error('stopped'));
    await playing;
    expect(await stepsIn(store)).toHaveLength(2);
  });

  it('records the outcome of a text that is not an answer, and counts only the beginning of a long one [9.8s]', async () => {
    const store = new MemoryEventStore();
    expect(TEXT_BYTES).toBe(8_192);
    const { engine } = fakeCortex(() => Promise.resolve('ü'.repeat(TEXT_BYTES)));
    const stopping = new AbortController();
    const deps = processOf(store, engine);
    await playSlice(deps, { ...session, steps: 3 }, stopping.signal);
    const [first] = await stepsIn(store);
    expect(first === undefined ? '' : textOf(first)).toBe('ü'.repeat(TEXT_BYTES / 2));
    expect(first?.action).toMatchObject({ type: 'SPEAK' });
  });
});
