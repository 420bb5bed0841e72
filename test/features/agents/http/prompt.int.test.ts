import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createEngines } from '../../../../src/features/engines/engines.js';
import { promptRoute } from '../../../../src/features/agents/http/prompt.js';
import { agentRoutes } from '../../../../src/features/agents/http/routes.js';
import type { RecallQuery } from '../../../../src/features/memory/recall.js';
import { openRulesets } from '../../../../src/features/rules/rulesets.js';
import { fakeCortex } from '../../../support/fake-cortex.js';
import { startApp, type TestApp, testPrincipal } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { MemoryEventStore } from '../../../support/memory/event-store.js';
import { CONVERSATION, openMinds, TENANT } from '../../../support/minds.js';
import { memoryRow, NumberEmbedder } from '../../../support/recall-scene.js';

const PATH = '/v1/agents/mira';

describe('the route that shows a prompt', () => {
  let app: TestApp;
  let minds: Awaited<ReturnType<typeof openMinds>>;
  const store = { events: new MemoryEventStore() };
  const asked: RecallQuery[] = [];
  let cortex: ReturnType<typeof fakeCortex>;

  beforeEach(async () => {
    store.events = new MemoryEventStore();
    asked.length = 0;
    const clock = new ManualClock();
    const at = new Date(clock.now().getTime() - 3_600_000).toISOString();
    const found = [
      { row: memoryRow(5, 'The miller owes nine coins.', { at }), score: 0.8, scoreParts: { meaning: 0.8 } },
    ];
    const recall = (query: RecallQuery) => {
      asked.push(query);
      return Promise.resolve({ memories: found, embedder: 'words@1', pending: 0, byWords: null, revision: 9 });
    };
    cortex = fakeCortex(() => Promise.resolve('{"dialogue": "He does."}'));
    const { engine } = cortex;
    minds = await openMinds(store.events, clock, { agent: { recall, engineOf: () => engine } });
    const { writers, repository, index: turnIndex, runtime } = minds.deps;
    const shared = { writers, turnIndex, conversation: CONVERSATION };
    const ports = { events: store.events, clock, embedder: new NumberEmbedder() };
    const limits = { liveTexts: null, turnDeadlineMs: 900_000, agentWaitMs: 12_000 };
    const engines = createEngines([engine], engine, () => null);
    const routes = [
      ...agentRoutes({
        ...{ ...shared, ...limits, repository, runtime, ports },
        engines,
      }),
      promptRoute({ ...shared, ports, recall, engines, rulesets: openRulesets(writers, store.events) }),
    ];
    app = await startApp(routes, {
      clock,
      keys: { good: testPrincipal({ tenant: TENANT }), other: testPrincipal({ tenant: TENANT, scopes: ['npc'] }) },
    });
  });
  afterEach(async () => {
    await app.stop();
    await minds[Symbol.asyncDispose]();
  });
  const show = (body: object, key = 'good') =>
    app.post(`${PATH}/prompt`, body as never, { authorization: `Bearer ${key}` });

  const said = { input: 'Does the miller owe you money?', context: { place: 'bar', npcState: { mood: 'calm' } } };

  it('shows what a turn would ask its engine, and records nothing [13.7a, 13.7b]', async () => {
    const before = { input: 'Good evening.', player: { id: 'ada' } };
    await app.post(`${PATH}/process`, before);
    const { length } = await minds.events();
    asked.length = 0;
    const { status, body } = await show({ ...said, player: { id: 'ada' } });
    expect(status).toBe(200);
    expect([(await minds.events()).length, cortex.asked.length]).toEqual([length, 1]);
    expect(body.prompt).toContain('an hour ago: "The miller owes nine coins."');
    expect(body.prompt).toContain('You heard: "Good evening."');
    expect(body.prompt).toContain('Your state: {"mood":"calm"}');
    const [shownFor] = asked;
    await app.post(`${PATH}/process`, { ...said, player: { id: 'ada' } });
    const [, turn] = cortex.asked;
    expect([body.prompt, body.messages]).toEqual([turn?.prompt, turn?.messages]);
    expect(turn).toMatchObject(body.constraints as object);
    expect(shownFor).toEqual(asked[1]);
    expect(body).toMatchObject({
      memories: [{ memoryId: 'm5', text: 'The miller owes nine coins.', similarity: 0.8 }],
      ruleset: { rulesetId: 'default', version: 0 },
      logic: 4,
      promptBudget: null,
      tokens: expect.any(Number) as number,
    });
    expect((body.parts as { from: string }[]).map(({ from }) => from)).toEqual(
      expect.arrayContaining(['state', 'context', 'memory', 'conversation', 'instruction', 'observation']),
    );
  });

  it('decides by another set, which is not stored [13.7c]', async () => {
    const ruleset = { rulesetId: 'trial', prompt: { opening: 'Du bist Mira.' }, template: 'ChatML' };
    const { body } = await show({ ...said, ruleset });
    expect(body.prompt).toMatch(/^<\|im_start\|>system\nDu bist Mira\.\n\n/);
    expect(body.ruleset).toBeNull();
    const unknown = await show({ ...said, rulesetId: 'trial' });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'RULESET_NOT_FOUND']);
    const invalid = await show({ ...said, ruleset: { prompt: { openin: 'x' } } });
    expect([invalid.status, invalid.body.error.code]).toEqual([422, 'RULES_INVALID']);
    expect(invalid.body.error.details).toMatchObject({ problems: [{ pointer: '/ruleset/prompt/openin' }] });
    expect((await show({ ...said, ruleset, rulesetId: 'trial' })).status).toBe(400);
  });

  it('shows the first prompt of an NPC without events [13.7d]', async () => {
    const { status, body } = await show({ input: 'Hello.' });
    expect([status, body.prompt]).toEqual([200, expect.stringContaining('You are a character in a game.')]);
    expect(await minds.events()).toEqual([]);
  });

  it('is shortened to the context of the engine, and counts its tokens [13.1a, 13.7b]', async () => {
    Object.assign(cortex.engine, { knownContext: () => 1_200 });
    const crowd = Array.from({ length: 900 }, (_, at) => `guest ${String(at)}`);
    const { body } = await show({ ...said, context: { npcState: { crowd } } });
    expect(body).toMatchObject({ promptBudget: 688 });
    expect(body.tokens).toBeLessThanOrEqual(688);
    expect(body.prompt).toContain('guest 0');
    expect(body.leftOut).toEqual([{ from: 'state', count: 1, inPart: true, names: ['crowd'] }]);
  });

  it('needs a key that may read histories', async () => {
    expect((await show(said, 'other')).status).toBe(403);
  });
});
