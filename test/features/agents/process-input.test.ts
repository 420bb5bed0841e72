import { checksOf } from '../../support/seals.js';
import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { agentInput } from '../../../src/features/agents/take-input.js';
import { type AgentDeps, processInput } from '../../../src/features/agents/process-input.js';
import { openRulesets } from '../../../src/features/rules/rulesets.js';
import { whyOf } from '../../../src/features/turns/why.js';
import { createExpectedRetries, RETRY_WITHIN_MS } from '../../../src/features/agents/expected-retries.js';
import { sentencesOf } from '../../../src/features/agents/sentences.js';
import { pause } from '../../../src/kernel/concurrency/pause.js';
import { TURNS_KEPT_PER_MIND } from '../../../src/features/turns/turn-index.js';
import { SingleFlight } from '../../../src/kernel/concurrency/single-flight.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { PromptTooLong } from '../../../src/ports/prompt-too-long.js';
import { createMindReplay, type DecidedAgain } from '../../../src/features/replays/replay-mind.js';
import { defined } from '../../../src/kernel/base/defined.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import { countTokens } from '../../../src/kernel/model-text/count-tokens.js';
import type { CortexEngine } from '../../../src/ports/cortex.js';
import type { ProcessRuntime, StepAnswer } from '../../../src/ports/process-runtime.js';
import { fakeCortex } from '../../support/fake-cortex.js';
import { drained } from '../../../src/kernel/base/sliced.js';
import { findBreak } from '../../support/find-break.js';
import { gate } from '../../support/gate.js';
import { ManualClock } from '../../support/manual-clock.js';
import { DEADLINE_MS, openMinds, tapeOf, TENANT } from '../../support/minds.js';
import { settle } from '../../support/settle.js';

const WAIT_MS = 12_000;

const withOutcome = (runtime: ProcessRuntime, outcome: () => Promise<StepAnswer> | null): ProcessRuntime => ({
  start: () => runtime.start(),
  enter: (ref) => runtime.enter(ref),
  ask: (ref, inputs, by) => runtime.ask(ref, inputs, by),
  outcome: (ref, by, wait) => outcome() ?? runtime.outcome(ref, by, wait),
  [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
});

/** A slow process engine: it delays accepting an input and returning an outcome. */
const slowly = (
  runtime: ProcessRuntime,
  clock: ManualClock,
  takes: { readonly beforeMs: number; readonly afterMs: number },
): ProcessRuntime => ({
  start: () => runtime.start(),
  enter: (ref) => runtime.enter(ref),
  ask: async (ref, inputs, by) => {
    if (takes.beforeMs > 0) await pause(clock, takes.beforeMs);
    return runtime.ask(ref, inputs, by);
  },
  outcome: async (ref, by, wait) => {
    if (takes.afterMs > 0) await pause(clock, takes.afterMs);
    return runtime.outcome(ref, by, wait);
  },
  [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
});

/** A process engine that accepts no input while `busy` is set. */
const refusing = (runtime: ProcessRuntime, busy: { readonly isBusy: boolean }): ProcessRuntime => ({
  start: () => runtime.start(),
  enter: (ref) => runtime.enter(ref),
  ask: (ref, inputs, by) =>
    busy.isBusy ? Promise.reject(new Rejection('BUSY', { retryAfter: 2 })) : runtime.ask(ref, inputs, by),
  outcome: (ref, by, wait) => runtime.outcome(ref, by, wait),
  [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
});

let instances = 0;
const openAgents = async (
  { engine }: Pick<ReturnType<typeof fakeCortex>, 'engine'>,
  {
    store = new MemoryEventStore(),
    clock = new ManualClock(),
    onRecall = (): boolean => false,
    askTakes,
    outcome = () => null,
    shared = false,
    broken = { isBroken: false },
    silent = { isSilent: false },
    busy = { isBusy: false },
    search = { takesMs: 0 },
    embedderDown = () => null,
  }: {
    store?: MemoryEventStore;
    clock?: ManualClock;
    onRecall?: () => boolean;
    shared?: boolean;
    askTakes?: { beforeMs: number; afterMs: number };
    /** Runs before the engine’s own outcome; null leaves the outcome to the engine. */
    outcome?: () => Promise<StepAnswer> | null;
    broken?: { isBroken: boolean };
    /** Whether reading takes longer than a request may. */
    silent?: { isSilent: boolean };
    busy?: { isBusy: boolean };
    /** How long the search for recent turns takes. */
    search?: { takesMs: number };
    /** The state that the last call to the embedder showed. */
    embedderDown?: () => string | null;
  } = {},
) => {
  const recalls: string[] = [];
  const agent = {
    recall: ({ query }: { readonly query: string }) => {
      recalls.push(query);
      if (onRecall()) return Promise.reject(new Rejection('EMBEDDER_UNAVAILABLE'));
      return Promise.resolve({ memories: [], embedder: 'words@1', pending: 2, byWords: null, revision: -1 });
    },
    engineOf: () => engine,
  };
  const minds = await openMinds(store, clock, { agent, shared });
  const { repository } = minds.deps;
  const breakable = Object.assign(Object.create(repository) as typeof repository, {
    load: async (...asked: Parameters<typeof repository.load>) => {
      if (broken.isBroken) throw new Error('broken');
      if (silent.isSilent) await pause(clock, 2 * WAIT_MS);
      return repository.load(...asked);
    },
  });
  const { events } = minds.deps;
  const read: typeof events.read = async (...asked) => {
    if (silent.isSilent) await pause(clock, 2 * WAIT_MS);
    return events.read(...asked);
  };
  const index = Object.assign(Object.create(minds.deps.index) as typeof minds.deps.index, {
    recent: async (stream: string) => {
      if (search.takesMs > 0) await pause(clock, search.takesMs);
      return minds.deps.index.recent(stream);
    },
  });
  const told = withOutcome(askTakes === undefined ? minds.runtime : slowly(minds.runtime, clock, askTakes), outcome);
  const deps: AgentDeps = {
    ...minds.deps,
    index,
    events: Object.assign(Object.create(events) as typeof events, { read }),
    repository: breakable,
    engineOf: () => engine,
    embedder: { id: 'words@1', down: embedderDown },
    waitMs: WAIT_MS,
    retries: createExpectedRetries(clock),
    openings: new Map(),
    waits: new SingleFlight(),
    sentences: sentencesOf,
    runtime: refusing(told, busy),
  };
  let commands = 0;
  const instance = String((instances += 1));
  const say = async (
    input: string,
    over: { context?: JsonObject; npcState?: JsonObject; npcId?: string; commandId?: string; resumed?: boolean } = {},
  ) => {
    const commandId = over.commandId ?? `agent-${instance}-${String((commands += 1))}`;
    const asked = await agentInput({
      stream: npcStream(TENANT, over.npcId ?? 'mira'),
      input,
      context: over.context ?? {},
      npcState: over.npcState ?? {},
      by: { tenant: TENANT, actor: 'key', commandId, correlationId: commandId, causationId: null },
      keyed: over.commandId !== undefined,
      resumed: over.resumed ?? false,
    });
    return processInput(deps, asked);
  };
  return { ...minds, recalls, say };
};

const turnTypes = ['TurnOpened', 'MemoriesRecalled', 'VerdictReached', 'MemoryStored'];

describe('an agent’s turn', () => {
  it('recalls, asks the engine, decides and remembers in one call [7.1b, 7.1i]', async () => {
    const { engine, asked } = fakeCortex(() => Promise.resolve('{"dialogue": "Three coins.", "action": "SPEAK"}'));
    await using agents = await openAgents({ engine });
    const { verdict, revision } = await agents.say('A room, please.');
    expect(verdict).toMatchObject({ valid: true, dialogue: 'Three coins.' });
    expect(agents.recalls).toEqual(['A room, please.']);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.prompt).toContain('A room, please.');
    expect(asked[0]).toMatchObject({ maxTokens: 512 });
    expect(await agents.types()).toEqual(turnTypes);
    expect(revision).toBe(3);
    expect(findBreak(await agents.events())).toBeNull();
  });

  it.each([
    ['the context less the answer', 2_000, undefined, 1_488],
    ['less what answers may take here', 2_000, 700, 1_300],
    ['at least half of the context', 2_000, 4_000, 1_000],
    ['none if the context is not known', null, 700, undefined],
  ])('records the budget of a prompt: %s [13.1a]', async (_, context, maxTokens, promptBudget) => {
    const fake = fakeCortex(() => Promise.resolve('Yes.'));
    const inTurns = maxTokens === undefined ? undefined : { maxTokens };
    const engine = { ...fake.engine, knownContext: () => context, ...defined({ inTurns }) };
    await using agents = await openAgents({ engine });
    await agents.say('A room, please.');
    const opened = (await agents.events()).find(({ type }) => type === 'TurnOpened');
    expect(opened?.data['promptBudget']).toBe(promptBudget);
  });

  it('shows the engine a prompt within its budget [13.1a]', async () => {
    const fake = fakeCortex(() => Promise.resolve('Yes.'));
    const engine = { ...fake.engine, knownContext: () => 1_000 };
    await using agents = await openAgents({ engine });
    await agents.say('A room, please.', {
      npcState: { crowd: Array.from({ length: 900 }, (_, at) => `guest ${String(at)}`) },
    });
    const [{ messages = [] } = {}] = fake.asked;
    expect(countTokens(messages.map(({ content }) => content).join('\n'))).toBeLessThanOrEqual(488);
    expect(messages[0]?.content).toContain('guest 0');
  });

  it('records how it recalled, and its explanation shows it [3.9d]', async () => {
    const { engine } = fakeCortex(() => Promise.resolve('{"dialogue": "Three coins."}'));
    await using agents = await openAgents({ engine });
    await agents.say('A room, please.');
    const recalled = (await agents.events()).find(({ type }) => type === 'MemoriesRecalled');
    expect(recalled?.data['recall']).toEqual({ embedder: 'words@1', pending: 2 });
    const { events, repository, writers } = agents.deps;
    const checks = checksOf(events);
    const deps = { events, repository, writers, checks, rulesets: openRulesets(writers, events) };
    const why = await whyOf(deps, TENANT, 'mira', recalled?.data['turnId'] as string);
    expect(why.recall).toEqual({ embedder: 'words@1', pending: 2 });
  });

  it('shows the engine what was said before, from the record of its opening [13.4a, 13.4c, 13.4d, 13.4f, 13.5e]', async () => {
    const said = ['{"dialogue": "Three coins.", "action": "SPEAK"}', '{"action": "MOVE"}', '{"dialogue": "Well."}'];
    const { engine, asked } = fakeCortex(() => Promise.resolve(said[asked.length - 1] ?? ''));
    const clock = new ManualClock();
    await using agents = await openAgents({ engine }, { clock });
    await agents.say('A room, please.');
    await agents.say('Go away!');
    await agents.say('What did you say?');
    const opened = (await agents.events()).filter(({ type }) => type === 'TurnOpened').map(({ data }) => data);
    expect(opened.map(({ conversation }) => conversation)).toEqual([
      [],
      [expect.objectContaining({ heard: 'A room, please.' })],
      [
        {
          turnId: opened[0]?.['turnId'],
          heard: 'A room, please.',
          answered: { dialogue: 'Three coins.', action: { type: 'SPEAK', target: '' }, stateDelta: {} },
        },
        { turnId: opened[1]?.['turnId'], heard: 'Go away!', answered: { dialogue: expect.any(String) as string } },
      ],
    ]);
    for (const { promptAt } of opened) expect(promptAt).toBe(clock.now().toISOString());
    expect(asked[2]?.messages?.map(({ role }) => role)).toEqual([
      ...['system', 'user', 'assistant', 'user', 'assistant', 'user'],
    ]);
    expect(asked[2]?.prompt).toContain('- You heard: "A room, please."');
    await clock.advance(30 * 60_000 + 1);
    await agents.say('Hello?');
    expect((await agents.events()).findLast(({ type }) => type === 'TurnOpened')?.data['conversation']).toEqual([]);
  });

  it('shows an engine that takes parts what the prompt is made of, and no other engine [6.4g]', async () => {
    const { engine, asked } = fakeCortex(() => Promise.resolve('{"dialogue": "Three coins.", "action": "SPEAK"}'));
    await using agents = await openAgents({ engine: { ...engine, takesParts: true } });
    await agents.say('A room, please.', { npcState: { hp: 3 } });
    expect(asked[0]?.parts).toContainEqual({ text: 'Your state: {"hp":3}', from: 'state' });
    expect(asked[0]?.parts?.at(-1)).toEqual({ text: '"A room, please."', from: 'observation' });

    await using others = await openAgents({ engine });
    await others.say('A room, please.');
    expect(asked[1]).not.toHaveProperty('parts');
  });

  it('is decided by the default preset when the tenant has no default [7.1d, 7.1g]', async () => {
    const { engine } = fakeCortex(() => Promise.resolve('{"dialogue": "Hm?", "action": "MOVE"}'));
    await using agents = await openAgents({ engine });
    const { verdict } = await agents.say('Wake up!', { npcState: { status: 'asleep' } });
    expect(verdict).toMatchObject({ valid: false, code: 'RULE_REFUSED', details: { drRuleId: 'incapacitated' } });
    expect((await agents.events())[0]?.data).toMatchObject({ ruleset: { rulesetId: 'default', version: 0 } });
    // The state of the request is of its turn alone.
    expect((await agents.say('Wake up!')).verdict).toMatchObject({ code: 'MOVE_TARGET_MISSING' });
  });

  it('is joined by the same input while it is open; after its end the input begins a new turn [7.1q, 7.1u]', async () => {
    const { opened, open } = gate();
    const { engine, asked } = fakeCortex(async () => {
      await opened;
      return 'Yes.';
    });
    await using agents = await openAgents({ engine });
    const both = [agents.say('Well?'), agents.say('Well?')];
    const others = [
      agents.say('Well?', { npcState: { hp: 1 } }),
      agents.say('Well?', { context: { place: 'inn' } }),
      agents.say('Well?', { npcId: 'bo' }),
    ];
    await settle(20);
    open();
    const [first, second] = await Promise.all(both);
    expect(second?.turnId).toBe(first?.turnId);
    const turnIds = (await Promise.all(others)).map(({ turnId }) => turnId);
    expect(new Set([first?.turnId, ...turnIds]).size).toBe(4);
    expect(asked).toHaveLength(4);
    expect((await agents.say('Well?')).turnId).not.toBe(first?.turnId);
  });

  it('continues when its client times out; the same input gets the text without another call to the engine [6.4b, 7.1n, 7.1o, 7.1p, 7.1q]', async () => {
    const { opened, open } = gate();
    const { engine, asked } = fakeCortex(async () => {
      await opened;
      return 'At last.';
    });
    await using agents = await openAgents({ engine });
    const late = agents.say('Are you there?').catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(WAIT_MS + 1);
    expect(await late).toMatchObject({ code: 'CORTEX_UNAVAILABLE', retryAfter: 1 });
    const again = agents.say('Are you there?');
    await settle(20);
    open();
    expect((await again).verdict).toMatchObject({ dialogue: 'At last.' });
    expect(asked).toHaveLength(1);
    expect(await agents.types()).toEqual(turnTypes);
  });

  it('is not reported as waiting for its engine while recall is unavailable [7.1o]', async () => {
    let isAway = true;
    const { engine, asked } = fakeCortex(() => Promise.resolve('At last.'));
    await using agents = await openAgents({ engine }, { onRecall: () => isAway });
    const late = agents.say('Are you there?').catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(WAIT_MS + 1);
    const refused = (await late) as Rejection;
    expect([refused.code, refused.retryAfter, asked.length]).toEqual(['ENGINE_UNAVAILABLE', 1, 0]);
    isAway = false;
    const again = agents.say('Are you there?');
    await settle(20);
    await agents.clock.advance(10_000);
    expect(await again).toMatchObject({ turnId: refused.details['turnId'], verdict: { dialogue: 'At last.' } });
  });

  it('is reported as waiting for the embedder only while its recall waits and the last embedder call failed [7.1o]', async () => {
    const { engine } = fakeCortex(() => new Promise<never>(() => undefined));
    const embedderDown = () => 'It is away.';
    for (const [isAway, code] of [
      [true, 'EMBEDDER_UNAVAILABLE'],
      [false, 'CORTEX_UNAVAILABLE'],
    ] as const) {
      await using agents = await openAgents({ engine }, { onRecall: () => isAway, embedderDown });
      const late = agents.say('Are you there?').catch((error: unknown) => error);
      await settle(20);
      await agents.clock.advance(WAIT_MS + 1);
      const refused = (await late) as Rejection;
      expect(refused.code).toBe(code);
      if (isAway) expect(refused).toMatchObject({ details: { embedder: 'words@1', reason: 'It is away.' } });
    }
  });

  it.each([
    ['is being read', false, 'ENGINE_UNAVAILABLE'],
    ['has ended', true, 'STORE_UNAVAILABLE'],
  ])('is refused in time with a retry when the store is silent as the turn %s [7.1n, 7.1o]', async (_, ends, code) => {
    const { opened, open } = gate();
    const { engine } = fakeCortex(async () => {
      await opened;
      return 'At last.';
    });
    const silent = { isSilent: false };
    await using agents = await openAgents({ engine }, { silent });
    let refusal: unknown = null;
    void agents.say('Are you there?').catch((error: unknown) => (refusal = error));
    await settle(20);
    silent.isSilent = true;
    if (ends) open();
    await settle(20);
    await agents.clock.advance(WAIT_MS - 1);
    expect(refusal).toBeNull();
    await agents.clock.advance(1);
    expect(refusal).toMatchObject({ code, retryAfter: 1 });
    silent.isSilent = false;
    open();
    expect((await agents.say('Are you there?')).verdict).toMatchObject({ dialogue: 'At last.' });
    expect(await agents.types()).toEqual(turnTypes);
  });

  it('is returned to the same input after a refusal with a retry, once and for a limited time [7.1s, 7.1u]', async () => {
    let gates = [gate(), gate()];
    const [first, second] = gates;
    const { engine, asked } = fakeCortex(async () => {
      const next = gates[0];
      gates = gates.slice(1);
      await next?.opened;
      return 'At last.';
    });
    await using agents = await openAgents({ engine });
    const late = agents.say('Are you there?').catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(WAIT_MS + 1);
    expect(await late).toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    first?.open();
    await settle(20);
    expect(await agents.types()).toEqual(turnTypes);
    const repeated = await agents.say('Are you there?');
    expect(repeated).toMatchObject({ verdict: { dialogue: 'At last.' } });
    expect(asked).toHaveLength(1);
    const anew = agents.say('Are you there?').catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(WAIT_MS + 1);
    expect(await anew).toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    second?.open();
    await settle(20);
    await agents.clock.advance(RETRY_WITHIN_MS);
    expect((await agents.say('Are you there?')).turnId).not.toBe(repeated.turnId);
    expect(asked).toHaveLength(3);
  });

  it('is shared by any number of equal requests [7.1q]', async () => {
    const { opened, open } = gate();
    const { engine, asked } = fakeCortex(async () => {
      await opened;
      return 'Yes, all of you.';
    });
    await using agents = await openAgents({ engine });
    const all = Array.from({ length: 200 }, () => agents.say('Well?'));
    await settle(20);
    const more = Array.from({ length: 20 }, () => agents.say('Well?'));
    await settle(20);
    open();
    const outcomes = await Promise.all([...all, ...more]);
    expect(new Set(outcomes.map(({ verdict }) => verdict.dialogue))).toEqual(new Set(['Yes, all of you.']));
    expect(asked).toHaveLength(1);
    expect(await agents.types()).toEqual(turnTypes);
  });

  it('is no longer reserved for a command whose repeat was answered', async () => {
    const { opened, open } = gate();
    const { engine, asked } = fakeCortex(async () => {
      if (asked.length === 1) await opened;
      return `Blow ${String(asked.length)}.`;
    });
    await using agents = await openAgents({ engine });
    const commandId = 'c0_AAAAAAAAAAAAAAAA';
    const late = agents.say('Attack!', { commandId }).catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(WAIT_MS + 1);
    expect(await late).toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    open();
    await settle(20);
    const repeated = await agents.say('Attack!', { commandId, resumed: true });
    expect(repeated.verdict).toMatchObject({ dialogue: 'Blow 1.' });
    for (const over of [{ commandId: 'c0_BBBBBBBBBBBBBBBB' }, {}]) {
      expect((await agents.say('Attack!', over)).turnId).not.toBe(repeated.turnId);
    }
    expect(asked).toHaveLength(3);
  });

  it('is reserved for a command that joined another command’s turn [7.1t]', async () => {
    const { opened, open } = gate();
    const { engine, asked } = fakeCortex(async () => {
      await opened;
      return 'To both.';
    });
    await using agents = await openAgents({ engine });
    const commandId = 'c0_AAAAAAAAAAAAAAAA';
    const late = [agents.say('Well?'), agents.say('Well?', { commandId })].map((said) => said.catch(() => null));
    await settle(20);
    await agents.clock.advance(WAIT_MS + 1);
    expect(await Promise.all(late)).toEqual([null, null]);
    open();
    await settle(20);
    const [one, other] = [await agents.say('Well?', { commandId, resumed: true }), await agents.say('Well?')];
    expect(other.turnId).toBe(one.turnId);
    expect(asked).toHaveLength(1);
  });

  it('stays reserved after a failed retry, for as many requests as were refused [7.1s]', async () => {
    const { opened, open } = gate();
    const { engine, asked } = fakeCortex(async () => {
      if (asked.length === 1) await opened;
      return `Blow ${String(asked.length)}.`;
    });
    const broken = { isBroken: false };
    await using agents = await openAgents({ engine }, { broken });
    const late = agents.say('Attack!').catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(WAIT_MS + 1);
    expect(await late).toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    open();
    await settle(20);
    broken.isBroken = true;
    await expect(agents.say('Attack!')).rejects.toThrow('broken');
    broken.isBroken = false;
    const both = await Promise.all([agents.say('Attack!'), agents.say('Attack!')]);
    expect(both.map(({ verdict }) => verdict.dialogue)).toEqual(['Blow 1.', 'Blow 2.']);
  });

  it('is reserved for each client that left while it was being opened', async () => {
    const { engine, asked } = fakeCortex(() => Promise.resolve(`Blow ${String(asked.length)}.`));
    const askTakes = { beforeMs: WAIT_MS + 1_000, afterMs: 0 };
    await using agents = await openAgents({ engine }, { askTakes });
    const refused = (said: Promise<unknown>) =>
      said.then(
        () => null,
        (error: unknown) => error,
      );
    const left = [refused(agents.say('Attack!')), refused(agents.say('Attack!'))];
    await settle(20);
    await agents.clock.advance(6_000);
    const stayed = agents.say('Attack!');
    await settle(20);
    await agents.clock.advance(6_000);
    expect(await Promise.all(left)).toMatchObject([{ code: 'ENGINE_UNAVAILABLE' }, { code: 'ENGINE_UNAVAILABLE' }]);
    await agents.clock.advance(1_000);
    const repeats = [stayed, agents.say('Attack!'), agents.say('Attack!')];
    await settle(20);
    await agents.clock.advance(1);
    const turnIds = (await Promise.all(repeats)).map(({ turnId }) => turnId);
    expect(new Set(turnIds).size).toBe(1);
    expect(asked).toHaveLength(1);
    const anew = refused(agents.say('Attack!'));
    await settle(20);
    await agents.clock.advance(WAIT_MS);
    expect(await anew).toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  });

  it('is reserved for a client that left while its turn was being looked up', async () => {
    const { opened, open } = gate();
    const { engine, asked } = fakeCortex(async () => {
      if (asked.length === 1) await opened;
      return `Blow ${String(asked.length)}.`;
    });
    const search = { takesMs: 0 };
    await using agents = await openAgents({ engine }, { search });
    const late = [agents.say('Attack!').catch((error: unknown) => error)];
    await settle(20);
    search.takesMs = WAIT_MS + 1_000;
    late.push(agents.say('Attack!').catch((error: unknown) => error));
    await settle(20);
    await agents.clock.advance(WAIT_MS);
    expect(await Promise.all(late)).toMatchObject([{ code: 'CORTEX_UNAVAILABLE' }, { code: 'ENGINE_UNAVAILABLE' }]);
    await agents.clock.advance(1_000);
    open();
    await settle(20);
    search.takesMs = 0;
    const words: string[] = [];
    for (let times = 0; times < 3; times += 1) words.push((await agents.say('Attack!')).verdict.dialogue);
    expect(words).toEqual(['Blow 1.', 'Blow 1.', 'Blow 2.']);
  });

  it('is not reserved for a client that left its opening and joined it again', async () => {
    const { engine, asked } = fakeCortex(() => Promise.resolve(`Blow ${String(asked.length)}.`));
    const askTakes = { beforeMs: WAIT_MS + 2_000, afterMs: 0 };
    await using agents = await openAgents({ engine }, { askTakes });
    const late = agents.say('Attack!').catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(WAIT_MS);
    expect(await late).toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    const again = agents.say('Attack!');
    await settle(20);
    await agents.clock.advance(2_000);
    const first = await again;
    askTakes.beforeMs = 0;
    expect((await agents.say('Attack!')).turnId).not.toBe(first.turnId);
    expect(asked).toHaveLength(2);
  });

  it('is reserved for a client that left before it was known that another server had opened it', async () => {
    const { opened, open } = gate();
    const fake = fakeCortex(async () => {
      if (fake.asked.length === 1) await opened;
      return `Blow ${String(fake.asked.length)}.`;
    });
    const store = new MemoryEventStore();
    const clock = new ManualClock();
    await using first = await openAgents(fake, { store, clock, shared: true });
    const askTakes = { beforeMs: WAIT_MS + 1_000, afterMs: 0 };
    await using second = await openAgents(fake, { store, clock, shared: true, askTakes });
    const late = second.say('Attack!').catch((error: unknown) => error);
    await settle(20);
    // The other server’s clock is ahead, so its turn has a different id.
    await clock.advance(5);
    void first.say('Attack!').catch(() => undefined);
    await settle(40);
    await clock.advance(WAIT_MS - 5);
    expect(await late).toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    await clock.advance(1_000);
    open();
    await settle(40);
    askTakes.beforeMs = 0;
    expect((await second.say('Attack!')).verdict).toMatchObject({ dialogue: 'Blow 1.' });
    expect(fake.asked).toHaveLength(1);
  });

  it('is refused with a retry when its outcome is not available yet', async () => {
    const { engine } = fakeCortex(() => new Promise<never>(() => undefined));
    const outcome = () => Promise.resolve({ answer: undefined, revision: -1, position: 0 });
    await using agents = await openAgents({ engine }, { outcome });
    await expect(agents.say('Anybody?')).rejects.toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
  });

  it('keeps waiting when too many requests wait for its outcome', async () => {
    let times = 0;
    const { engine } = fakeCortex(() => Promise.resolve('Free again.'));
    const busy = () => ((times += 1) <= 3 ? Promise.reject(new Rejection('BUSY', { retryAfter: 1 })) : null);
    await using agents = await openAgents({ engine }, { outcome: busy });
    const both = [agents.say('Well?'), agents.say('Well?')];
    for (let steps = 0; steps < 10; steps += 1) {
      await settle(20);
      await agents.clock.advance(250);
    }
    expect((await Promise.all(both)).map(({ verdict }) => verdict.dialogue)).toEqual(['Free again.', 'Free again.']);
    expect(times).toBe(4);
  });

  it.each([
    ['the opening takes', { beforeMs: WAIT_MS - 1_000, afterMs: 8_000 }, 'CORTEX_UNAVAILABLE'],
    ['the opening takes more than', { beforeMs: WAIT_MS + 8_000, afterMs: 0 }, 'ENGINE_UNAVAILABLE'],
  ])(
    'is not waited for longer than a request may wait, even if %s most of that time [7.1n]',
    async (_, askTakes, code) => {
      const { engine, asked } = fakeCortex(() => Promise.resolve('Here I am.'));
      await using agents = await openAgents({ engine }, { askTakes });
      let refusal: unknown = null;
      void agents.say('Anybody?').catch((error: unknown) => (refusal = error));
      await settle(20);
      await agents.clock.advance(WAIT_MS - 1);
      expect(refusal).toBeNull();
      await agents.clock.advance(1);
      expect(refusal).toMatchObject({ code });
      await agents.clock.advance(20_000);
      const again = agents.say('Anybody?');
      await settle(20);
      await agents.clock.advance(8_000);
      expect((await again).verdict).toMatchObject({ dialogue: 'Here I am.' });
      expect(asked).toHaveLength(1);
    },
  );

  it('is opened once by two servers that get the same input at the same time, and once more after it has ended [7.1r, 7.1u]', async () => {
    const { opened, open } = gate();
    const fake = fakeCortex(async () => {
      await opened;
      return 'Only once.';
    });
    const store = new MemoryEventStore();
    const clock = new ManualClock();
    await using first = await openAgents(fake, { store, clock, shared: true });
    const aheadClock = new ManualClock('2026-01-01T00:00:00.005Z');
    await using second = await openAgents(fake, { store, clock: aheadClock, shared: true });
    const both = [first.say('Who is there?'), second.say('Who is there?')];
    await settle(40);
    open();
    const [one, other] = await Promise.all(both);
    expect(other?.turnId).toBe(one?.turnId);
    expect(await first.types()).toEqual(turnTypes);
    const again = [first.say('Who is there?'), second.say('Who is there?')];
    const turnIds = new Set((await Promise.all(again)).map(({ turnId }) => turnId));
    expect(turnIds.has(one?.turnId ?? '')).toBe(false);
    expect(turnIds.size).toBe(1);
  });

  it('is refused as busy instead of returning an old turn with the same text', async () => {
    const { engine } = fakeCortex(() => Promise.resolve('Hello.'));
    const busy = { isBusy: false };
    await using agents = await openAgents({ engine }, { busy });
    await agents.say('Hello.');
    // Enough turns that the first is no longer used for a command's name but is still cached.
    const others = TURNS_KEPT_PER_MIND / 2 + 1;
    for (let other = 0; other < others; other += 1) await agents.say(`Something else: ${String(other)}.`);
    busy.isBusy = true;
    await expect(agents.say('Hello.')).rejects.toMatchObject({ code: 'BUSY' });
  });

  it('is refused immediately while its engine is known to be down, and continues when the engine is back [6.4b, 6.7d, 7.1o, 7.1p]', async () => {
    let isDown = true;
    const fake = fakeCortex(() =>
      isDown ? Promise.reject(new Rejection('CORTEX_UNAVAILABLE')) : Promise.resolve('Back again.'),
    );
    await using agents = await openAgents(fake);
    fake.set('it does not answer');
    const refused = agents.say('Hello?').catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(250);
    expect(await refused).toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    isDown = false;
    fake.set('ready');
    const again = agents.say('Hello?');
    await settle(20);
    await agents.clock.advance(5_000);
    expect((await again).verdict).toMatchObject({ dialogue: 'Back again.' });
    expect(await agents.types()).toEqual(turnTypes);
  });

  it('gets its answer as soon as the engine answers another turn, however long it was down [6.8b]', async () => {
    let isDown = true;
    const listeners: (() => void)[] = [];
    const fake = fakeCortex(() => {
      if (isDown) return Promise.reject(new Rejection('CORTEX_UNAVAILABLE', { retryAfter: 5 }));
      for (const listener of listeners) listener();
      return Promise.resolve('Back again.');
    });
    const engine: CortexEngine = {
      ...fake.engine,
      onAnswer: (listener) => {
        listeners.push(listener);
        return () => undefined;
      },
    };
    await using agents = await openAgents({ engine });
    void agents.say('Hello?').catch(() => undefined);
    await settle(20);
    await agents.clock.advance(36_000);
    isDown = false;
    await agents.say('Hello, too?', { npcId: 'odo' });
    await settle(20);
    expect(await agents.types()).toEqual(turnTypes);
  });

  const noText = new Rejection('CORTEX_NO_ANSWER', { details: { cortexId: 'fake', reason: 'It has no words.' } });

  it('ends after three attempts without a text, with the last reason; the same input opens a new turn [6.7a, 6.7b, 6.7c, 10.2d]', async () => {
    let isMute = true;
    const fake = fakeCortex(() => (isMute ? Promise.reject(noText) : Promise.resolve('Here I am.')));
    await using agents = await openAgents(fake);
    await expect(agents.say('Hello?')).rejects.toMatchObject({
      code: 'CORTEX_NO_ANSWER',
      details: { cortexId: 'fake', reason: 'It has no words.', turnId: expect.any(String) as string },
    });
    expect(fake.asked).toHaveLength(3);
    expect(fake.asked.every(({ once }) => once === true)).toBe(true);
    const failed = ['AnswerMissing', 'AnswerMissing', 'AnswerMissing', 'TurnFailed'];
    expect(await agents.types()).toEqual(['TurnOpened', 'MemoriesRecalled', ...failed]);
    const { turnId } = (await agents.events())[0]?.data as { readonly turnId: string };
    const { events, repository, writers } = agents.deps;
    const rulesets = openRulesets(writers, events);
    const reason = 'It has no words.';
    expect(
      await whyOf({ events, repository, writers, rulesets, checks: checksOf(events) }, TENANT, 'mira', turnId),
    ).toMatchObject({
      missingAnswers: [1, 2, 3].map((attempt) => ({ attempt, cortexId: 'fake', reason })),
      failure: { code: 'CORTEX_NO_ANSWER', reason },
    });
    isMute = false;
    expect((await agents.say('Hello?')).verdict).toMatchObject({ dialogue: 'Here I am.' });
  });

  it('asks with a shorter prompt if the engine refuses the first for its length [13.1e, 13.1f]', async () => {
    const refused = new PromptTooLong('fake', 'Too long.', 1_100);
    const fake = fakeCortex(({ prompt }) =>
      countTokens(prompt) > 588 ? Promise.reject(refused) : Promise.resolve('At last.'),
    );
    await using agents = await openAgents(fake);
    const npcState = { crowd: Array.from({ length: 900 }, (_, at) => `guest ${String(at)}`) };
    const { verdict, turnId } = await agents.say('Hello?', { npcState });
    expect(verdict).toMatchObject({ dialogue: 'At last.' });
    const types = ['TurnOpened', 'MemoriesRecalled', 'PromptShortened', 'VerdictReached', 'MemoryStored'];
    expect(await agents.types()).toEqual(types);
    const { events, repository, writers } = agents.deps;
    const rulesets = openRulesets(writers, events);
    const why = await whyOf(
      { events, repository, writers, rulesets, checks: checksOf(events) },
      TENANT,
      'mira',
      turnId,
    );
    expect(why.prompt).toMatchObject({ text: fake.asked[1]?.prompt, madeAgain: true });
    expect(why.events.map(({ type }) => type)).toEqual(types);
    const replay = createMindReplay('mira');
    const decided: DecidedAgain[] = [];
    for (const event of await agents.events()) {
      const rules = await rulesets.version(TENANT, replay.rulesOf(event) ?? null);
      decided.push(...drained(replay.take(event, { trial: false, rules })));
    }
    expect(decided.map(({ type, difference, skipped }) => [type, difference, skipped])).toEqual(
      types.slice(0, 4).map((type) => [type, null, undefined]),
    );
  });

  it('gets its verdict from a later attempt [6.7a]', async () => {
    let calls = 0;
    const fake = fakeCortex(() => ((calls += 1) < 3 ? Promise.reject(noText) : Promise.resolve('At last.')));
    await using agents = await openAgents(fake);
    expect((await agents.say('Hello?')).verdict).toMatchObject({ dialogue: 'At last.' });
    expect(await agents.types()).toEqual([
      ...['TurnOpened', 'MemoriesRecalled', 'AnswerMissing', 'AnswerMissing'],
      ...turnTypes.slice(2),
    ]);
  });

  it('answers a retry of a late request with the failure of its turn [6.7c]', async () => {
    const { opened, open } = gate();
    const fake = fakeCortex(async () => {
      await opened;
      throw noText;
    });
    await using agents = await openAgents(fake);
    const late = agents.say('Hello?').catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(WAIT_MS);
    expect(await late).toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    open();
    await settle(40);
    await expect(agents.say('Hello?')).rejects.toMatchObject({ code: 'CORTEX_NO_ANSWER' });
    expect(fake.asked).toHaveLength(3);
  });

  it('asks for the numbers that the operator of its engine has set [6.6d]', async () => {
    const fake = fakeCortex(() => Promise.resolve('Hello.'));
    const inTurns = { maxTokens: 4_000, temperature: 0.1 };
    await using agents = await openAgents({ engine: { ...fake.engine, inTurns } });
    await agents.say('Hello?');
    expect(fake.asked).toMatchObject([inTurns]);
  });

  it('waits for an engine again after the last known failure is too old [7.1p]', async () => {
    const { opened, open } = gate();
    const fake = fakeCortex(async () => {
      await opened;
      return 'I was only slow.';
    });
    await using agents = await openAgents(fake);
    fake.set('it does not answer');
    const refused = agents.say('Hello?').catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(250);
    expect(await refused).toMatchObject({ details: { reason: 'it does not answer' } });
    fake.forget();
    const waiting = agents.say('Hello?');
    await settle(20);
    await agents.clock.advance(5_000);
    open();
    expect((await waiting).verdict).toMatchObject({ dialogue: 'I was only slow.' });
    expect(fake.asked).toHaveLength(1);
  });

  it('asks an engine again only for text that was not recorded before the server was killed', async () => {
    const { engine, asked } = fakeCortex(() =>
      asked.length === 1 ? new Promise<never>(() => undefined) : Promise.resolve('Here.'),
    );
    const before = await openAgents({ engine });
    const { store, clock } = before;
    void before.say('Still there?').catch(() => undefined);
    await settle(20);
    await before[Symbol.asyncDispose]();
    await using after = await openAgents({ engine }, { store, clock });
    await settle(20);
    expect(await after.types()).toEqual(turnTypes);
    expect(asked).toHaveLength(2);
  });

  it('is found by a repeat of its command after it has ended [7.1t]', async () => {
    const { engine, asked } = fakeCortex(() => Promise.resolve('Once.'));
    await using agents = await openAgents({ engine });
    const first = await agents.say('Say it once.', { commandId: 'c0_AAAAAAAAAAAAAAAA' });
    const again = await agents.say('Say it once.', { commandId: 'c0_AAAAAAAAAAAAAAAA', resumed: true });
    expect(again.turnId).toBe(first.turnId);
    expect(asked).toHaveLength(1);
  });

  it('is found by a repeat of its command at another server [7.1t]', async () => {
    const fake = fakeCortex(() => Promise.resolve('Once.'));
    const [store, clock] = [new MemoryEventStore(), new ManualClock()];
    await using first = await openAgents(fake, { store, clock, shared: true });
    await using second = await openAgents(fake, { store, clock, shared: true });
    const commandId = 'c0_AAAAAAAAAAAAAAAA';
    const { turnId } = await first.say('Say it once.', { commandId });
    expect((await second.say('Say it once.', { commandId, resumed: true })).turnId).toBe(turnId);
    expect(fake.asked).toHaveLength(1);
  });

  it('retries a failed recall', async () => {
    const { engine } = fakeCortex(() => Promise.resolve('Now I know.'));
    let fails = 1;
    await using agents = await openAgents({ engine }, { onRecall: () => (fails -= 1) >= 0 });
    const answered = agents.say('Do you know?');
    await settle(20);
    expect(await agents.types()).toEqual(['TurnOpened']);
    await agents.clock.advance(1_000);
    expect((await answered).verdict).toMatchObject({ dialogue: 'Now I know.' });
    expect(await agents.types()).toEqual(turnTypes);
  });

  it('is begun again by a repeat of its command after it has expired', async () => {
    const fake = fakeCortex(() =>
      fake.asked.length === 1 ? new Promise<never>(() => undefined) : Promise.resolve('Yes.'),
    );
    await using agents = await openAgents(fake);
    const command = { commandId: 'c0_BBBBBBBBBBBBBBBB' };
    const late = agents.say('Anybody?', command).catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(DEADLINE_MS);
    await settle(20);
    expect(await late).toMatchObject({ code: 'CORTEX_UNAVAILABLE', details: { cortexId: 'fake' } });
    expect((await agents.say('Anybody?', { ...command, resumed: true })).verdict).toMatchObject({ dialogue: 'Yes.' });
  });

  it('reports that the engine was not asked when it expires before its recall', async () => {
    const { engine, asked } = fakeCortex(() => Promise.resolve('Never asked.'));
    await using agents = await openAgents({ engine }, { onRecall: () => true });
    await agents.clock.advance(0);
    void agents.say('Anybody?').catch(() => undefined);
    await settle(20);
    await agents.clock.advance(DEADLINE_MS - 1_000);
    const late = agents.say('Anybody?').catch((error: unknown) => error);
    await settle(20);
    await agents.clock.advance(1_000);
    await settle(20);
    expect(await agents.types()).toEqual(['TurnOpened', 'TurnExpired']);
    expect(await late).toMatchObject({
      code: 'ENGINE_UNAVAILABLE',
      retryAfter: 1,
      message: expect.stringContaining('the engine was not called') as unknown,
    });
    expect(asked).toHaveLength(0);
  });

  it('expires when no engine answers before its deadline', async () => {
    const { engine } = fakeCortex(() => new Promise<never>(() => undefined));
    await using agents = await openAgents({ engine });
    void agents.say('Anybody?').catch(() => undefined);
    await settle(20);
    await agents.clock.advance(DEADLINE_MS);
    await settle(20);
    expect(await agents.types()).toEqual(['TurnOpened', 'MemoriesRecalled', 'TurnExpired']);
  });

  it('does not accept steps of a body: a tape with its id continues as another turn [7.1i]', async () => {
    const { engine } = fakeCortex(() => new Promise<never>(() => undefined));
    await using agents = await openAgents({ engine });
    void agents.say('Mine.').catch(() => undefined);
    await settle(20);
    const [opened] = await agents.events();
    const { turnId } = opened?.data as { turnId: string };
    const { answer } = await agents.step(tapeOf({ observation: 'Mine.', turnId }), {
      type: 'ExecuteInferenceResult',
      generatedOutput: 'Not yours.',
    });
    expect(answer.turnId).not.toBe(turnId);
    expect(await agents.types()).not.toContain('VerdictReached');
  });
});
