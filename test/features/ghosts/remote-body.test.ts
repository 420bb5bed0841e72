import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import { EmbeddedProcessRuntime } from '../../../src/adapters/embedded/process-runtime.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { ghostSessionEffects, prepareGhostTurn } from '../../../activities/effects/ghost-session.js';
import { createGhostEngines } from '../../../src/features/ghosts/call-engines.js';
import { readGhost, stepGhost } from '../../../src/features/ghosts/remote-body.js';
import { createSessionCache } from '../../../src/features/ghosts/play-slice.js';
import { createPlayCache } from '../../../src/features/ghosts/remote-steps.js';
import { ghostRef } from '../../../src/features/ghosts/run-ghost.js';
import { shownSteps } from '../../../src/features/ghosts/shown-steps.js';
import { CHECKPOINT_STEPS, readSteps } from '../../../src/features/ghosts/steps-log.js';
import type { Levels } from '../../../src/features/levels/levels.js';
import { openRulesets } from '../../../src/features/rules/rulesets.js';
import { ProcessRepository } from '../../../src/kernel/processes/process-repository.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { turnEffects } from '../../../activities/effects/turn.js';
import { TurnIndex } from '../../../src/features/turns/turn-index.js';
import type { TapeResult, Tape } from '../../../src/features/turns/domain/tape.js';
import { generateLevel } from '../../../src/features/levels/domain/generate.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import { ghostMindStream, ghostStepsStream } from '../../../src/kernel/base/stream-names.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { ghostSession } from '../../../workflows/ghost-session.js';
import { turn } from '../../../workflows/turn/turn.js';
import { faulty } from '../../support/faulty-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { CONVERSATION, DEADLINE_MS, identified, recalled, tapeOf, TENANT } from '../../support/minds.js';
import { seededRandom } from '../../support/seeded-random.js';

const sessionId = 'g0_0_aaaaaaaaaaaaaaaa';
const steps = ghostStepsStream(TENANT, sessionId);
const level = generateLevel('a place', 3);
const output = (generatedOutput: string): TapeResult => ({ type: 'ExecuteInferenceResult', generatedOutput });
const idle = output('{"action": "IDLE"}');

/** Only appends to the steps of sessions may fail. */
type StepsFault = { at: 'none' | 'before' | 'after' };

/** A process of the server on a store that others may share; after a kill only the store is left. */
const openProcess = async (
  store: MemoryEventStore,
  { steps: budget = 10_000, fault = { at: 'none' } }: { steps?: number; fault?: StepsFault } = {},
  levelOf: () => typeof level | null = () => level,
) => {
  const clock = new ManualClock();
  const failing = faulty(store, fault);
  const events: EventStore = {
    ...failing,
    append: (stream, ...rest) => (stream === steps ? failing : store).append(stream, ...rest),
  };
  const writers = new StreamWriters(events, clock, { shared: true });
  const repository = new ProcessRepository(events, { shared: true });
  const levels = { levelOf: () => Promise.resolve(levelOf()) } as unknown as Levels;
  const plays = createPlayCache();
  const signingKeys = { current: { kid: 'test-key', alg: 'EdDSA' } } as const;
  const turns = {
    rulesets: openRulesets(writers, events),
    signingKeys,
    issuer: 'http://test',
    ports: { events },
    levels,
  };
  const ghosts = {
    ports: { events, clock },
    writers,
    levels,
    ghostPlays: plays,
    ghostSessions: createSessionCache(),
    ghostEngines: createGhostEngines({ engines: { find: () => null }, clock, texts: 1 }),
    ghostPace:
      () =>
      async <T>(work: () => T) =>
        work(),
  };
  const runtime = new EmbeddedProcessRuntime({
    ...{ events: store, clock, random: seededRandom('ghosts'), logger: pino({ level: 'silent' }), writers, repository },
    processes: {
      turn: { ...turnEffects(turns, prepareGhostTurn(turns)), process: turn },
      ghostSession: { ...ghostSessionEffects(ghosts), process: ghostSession },
    },
  });
  await runtime.start();
  const index = new TurnIndex(events, { shared: true });
  const open = { turnDeadlineMs: DEADLINE_MS, conversation: CONVERSATION };
  const deps = { runtime, repository, index, writers, clock, events, levels, plays, ...open };
  let commands = 0;
  const by = () => {
    const commandId = `command-${String(commands++)}`;
    return { tenant: TENANT, actor: 'key', commandId, correlationId: commandId, causationId: null };
  };
  const step = async (tape: Tape, result: TapeResult | null = null) =>
    (await stepGhost(deps, sessionId, { tape, result, by: by(), keyed: false, resumed: false })).answer;
  const openTurn = async (context: JsonObject = {}): Promise<Tape> => {
    const opened = await step(tapeOf({ context }));
    const tape = tapeOf(opened.tape);
    await step(tape, identified);
    await step(tape, recalled);
    return tape;
  };
  return {
    clock,
    plays,
    step,
    openTurn,
    playTurn: async (context: JsonObject = {}) => step(await openTurn(context), idle),
    begin: (timeoutMs = 60_000) =>
      runtime.ask(
        ghostRef(TENANT, sessionId),
        [
          {
            type: 'request',
            ...{ sessionId, goal: 'find_bugs', suite: null, seed: 3, steps: budget, timeoutMs },
            level: { levelId: 'a place', version: null, digest: 'the digest', generated: true },
            deadlineAt: new Date(clock.now().getTime() + timeoutMs).toISOString(),
            driver: 'remote',
          },
        ],
        by(),
      ),
    stop: () => runtime.ask(ghostRef(TENANT, sessionId), [{ type: 'stop' }], by()),
    session: () => readGhost(deps, TENANT, sessionId),
    shown: async () =>
      shownSteps(deps, { ...(await readGhost(deps, TENANT, sessionId)), tenant: TENANT }, await stepsIn(store)),
    /** Waits for the report. */
    over: async () => {
      for (let look = 0; look < 10_000; look += 1) {
        const session = await readGhost(deps, TENANT, sessionId);
        if (session.name === 'over') return session;
        await new Promise((resolve) => setImmediate(resolve));
      }
      throw new Error('the session does not end');
    },
    [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
  };
};

const stepsIn = async (store: MemoryEventStore) => (await readSteps(store, steps, { from: 1, limit: 4_000 })).steps;
const numbersIn = async (store: MemoryEventStore): Promise<readonly number[]> =>
  (await stepsIn(store)).map(({ step }) => step);

describe('the steps of a body', () => {
  it.each(['before', 'after'] as const)(
    'are recorded by the next request when the process dies %s the append of one [9.6e, 9.6g]',
    async (at) => {
      const store = new MemoryEventStore();
      const fault: StepsFault = { at: 'none' };
      await using dying = await openProcess(store, { fault });
      await dying.begin();
      await dying.playTurn();
      const tape = await dying.openTurn({ ghost: { outcome: { ok: false, code: 'LOST' } } });
      fault.at = at;
      await expect(dying.step(tape, idle)).rejects.toThrow('killed');
      expect(await numbersIn(store)).toEqual(at === 'before' ? [1] : [1, 2]);
      await using next = await openProcess(store);
      // A new turn is opened: earlier events precede it.
      await next.step(tapeOf());
      expect(await numbersIn(store)).toEqual([1, 2]);
      expect((await stepsIn(store))[1]).toMatchObject({
        action: { type: 'IDLE' },
        remote: { told: { outcome: { ok: false, code: 'LOST' } }, decided: { valid: true, action: 'IDLE' } },
      });
      // The body that got no response repeats its step.
      expect((await next.step(tape, idle)).instruction).toMatchObject({ type: 'Finalize' });
      expect(await numbersIn(store)).toEqual([1, 2]);
    },
  );

  it('are recorded by a request that reads the session, and by its report [9.3c, 9.6g]', async () => {
    for (const look of ['session', 'stop'] as const) {
      const store = new MemoryEventStore();
      const fault: StepsFault = { at: 'none' };
      {
        await using dying = await openProcess(store, { fault });
        await dying.begin();
        const tape = await dying.openTurn();
        fault.at = 'before';
        await expect(dying.step(tape, idle)).rejects.toThrow('killed');
        fault.at = 'none';
      }
      await using next = await openProcess(store);
      await next[look]();
      if (look === 'stop') expect((await next.over()).report.step).toBe(1);
      expect(await numbersIn(store)).toEqual([1]);
    }
  });

  it('end the session even if the process dies before it has recorded the end', async () => {
    const store = new MemoryEventStore();
    const fault: StepsFault = { at: 'none' };
    await using dying = await openProcess(store, { fault, steps: 2 });
    await dying.begin();
    await dying.playTurn();
    const tape = await dying.openTurn();
    fault.at = 'after';
    await expect(dying.step(tape, idle)).rejects.toThrow('killed');
    await using next = await openProcess(store, { steps: 2 });
    await expect(next.step(tape, idle)).rejects.toMatchObject({ code: 'GHOST_OVER' });
    expect(await next.over()).toMatchObject({ ending: 'completed', timedOut: false, report: { step: 2 } });
  });

  it('are the same whichever of several processes records them, in the order of the verdicts [9.6e]', async () => {
    const store = new MemoryEventStore();
    await using one = await openProcess(store);
    await using other = await openProcess(store);
    await one.begin();
    for (let round = 0; round < 4; round += 1) {
      await one.playTurn();
      await other.playTurn();
      const [first, second] = [await one.openTurn(), await other.openTurn()];
      await Promise.all([one.step(first, idle), other.step(second, idle)]);
    }
    await Promise.all([one.session(), other.session(), one.session()]);
    expect(await numbersIn(store)).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
    const through = (await stepsIn(store)).map(({ remote }) => remote?.through ?? -1);
    expect(through).toEqual(through.toSorted((left, right) => left - right));
    expect(new Set(through).size).toBe(16);
  });

  it('continue from a checkpoint as from the beginning', async () => {
    const store = new MemoryEventStore();
    await using one = await openProcess(store);
    await one.begin();
    const told = { outcome: { ok: false, code: 'WALL' }, position: level.spawn };
    for (let count = 0; count <= CHECKPOINT_STEPS; count += 1) await one.playTurn({ ghost: told });
    const kept = await one.session().then(() => [...one.plays.values()].map(({ play }) => play));
    expect((await stepsIn(store)).filter(({ checkpoint }) => checkpoint !== undefined)).toHaveLength(1);
    await using other = await openProcess(store);
    await other.session();
    expect([...other.plays.values()].map(({ play }) => play)).toEqual(kept);
    await other.stop();
    const { report } = await other.over();
    expect(report.findings).toContainEqual(
      expect.objectContaining({ kind: 'mind_allowed_world_refused', subject: 'IDLE/WALL', count: CHECKPOINT_STEPS }),
    );
  });

  it.each(['step', 'session'] as const)(
    'end as failed at the next request when the level is lost: %s [9.8f, 9.9h]',
    async (next) => {
      let held: typeof level | null = level;
      await using body = await openProcess(new MemoryEventStore(), {}, () => held);
      await body.begin();
      await body.playTurn();
      held = null;
      if (next === 'step') await expect(body.step(tapeOf())).rejects.toMatchObject({ code: 'GHOST_OVER' });
      expect(await body.over()).toMatchObject({
        ...{ ending: 'failed', reason: 'The level of this session no longer exists.', report: { step: 1, tests: [] } },
      });
      await expect(body.step(tapeOf())).rejects.toMatchObject({ code: 'GHOST_OVER' });
    },
  );

  it('match the answers to Finalize: a turn that ends after the last step is refused [9.6e, 9.6f]', async () => {
    const store = new MemoryEventStore();
    await using body = await openProcess(store, { steps: 1 });
    await body.begin();
    const open = [await body.openTurn(), await body.openTurn()];
    const ends = await Promise.allSettled(open.map((tape) => body.step(tape, idle)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(ends).toContainEqual({ status: 'rejected', reason: expect.objectContaining({ code: 'GHOST_OVER' }) });
    expect(await numbersIn(store)).toEqual([1]);
  });

  it('match the answers to Finalize, whenever the session is stopped [9.6e, 9.6f]', async () => {
    const answered = new Set<string>();
    for (let delay = 0; delay < 60; delay += 3) {
      const store = new MemoryEventStore();
      await using body = await openProcess(store);
      await body.begin();
      const tape = await body.openTurn();
      const stopping = body.stop();
      for (let turns = 0; turns < delay; turns += 1) await Promise.resolve();
      const [end] = await Promise.allSettled([body.step(tape, idle), stopping]);
      await body.over();
      const said = end.status === 'fulfilled' ? end.value.instruction.type : (end.reason as { code?: string }).code;
      answered.add(`${String(said)} of ${String((await numbersIn(store)).length)}`);
    }
    // A refused body may still have made the last step: the report records the steps that it finds.
    expect([...answered].filter((each) => !/^(Finalize of 1|GHOST_OVER of [01])$/.test(each))).toEqual([]);
  });

  it('leave open turns to expire after the session, even if the level is gone by then [9.6f]', async () => {
    const store = new MemoryEventStore();
    let held: typeof level | null = level;
    await using body = await openProcess(store, {}, () => held);
    await body.begin();
    await body.openTurn();
    await body.playTurn({ ghost: { done: true } });
    await body.over();
    held = null;
    await body.clock.advance(DEADLINE_MS);
    const { events } = await store.read(ghostMindStream(TENANT, sessionId), { direction: 'backwards', limit: 1 });
    expect(events).toMatchObject([{ type: 'TurnExpired' }]);
  });

  it('exclude turns that expire while the session continues [9.6f]', async () => {
    const store = new MemoryEventStore();
    await using body = await openProcess(store);
    await body.begin(2 * DEADLINE_MS);
    await body.openTurn();
    await body.playTurn();
    await body.clock.advance(DEADLINE_MS);
    await body.playTurn();
    const { events } = await store.read(ghostMindStream(TENANT, sessionId), { direction: 'forwards', limit: 100 });
    expect(events.filter(({ type }) => type === 'TurnExpired')).toHaveLength(1);
    expect(await numbersIn(store)).toEqual([1, 2]);
  });

  it('are shown without the names of goals when the level is lost [9.6r]', async () => {
    const store = new MemoryEventStore();
    let held: typeof level | null = level;
    await using body = await openProcess(store, {}, () => held);
    await body.begin();
    const goal = level.goals[0]?.id ?? '';
    await body.playTurn({ ghost: { position: level.spawn, reached: [goal], done: true } });
    await body.over();
    expect(await body.shown()).toMatchObject([{ step: 1, told: { position: level.spawn, reached: [goal] } }]);
    held = null;
    expect(await body.shown()).toMatchObject([
      { step: 1, action: { type: 'IDLE' }, told: { position: level.spawn, done: true } },
    ]);
    expect((await body.shown())[0]).not.toHaveProperty('told.reached');
  });

  it('exclude turns that end after the session and turns without an end [9.6f]', async () => {
    const store = new MemoryEventStore();
    await using body = await openProcess(store);
    await body.begin();
    const tape = await body.openTurn();
    await body.playTurn({ ghost: { done: true } });
    await body.over();
    await expect(body.step(tape, idle)).rejects.toMatchObject({ code: 'GHOST_OVER' });
    expect(await numbersIn(store)).toEqual([1]);
    const { events } = await store.read(ghostMindStream(TENANT, sessionId), { direction: 'forwards', limit: 100 });
    expect(events.filter(({ type }) => type === 'VerdictReached')).toHaveLength(1);
  });
});
