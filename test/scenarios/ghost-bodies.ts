import { describe, expect, it } from 'vitest';

import { createGhostClient } from '../../src/body/ghost-client.js';
import { createWordMemory } from '../../src/body/memory.js';
import { type BodyMode, playTurn } from '../../src/body/play-turn.js';
import type { Finalize, StepAnswer, StepRequest } from '../../src/body/protocol.js';
import type { Json, JsonObject } from '../../src/kernel/base/json.js';
import { patientApiOf, codeOf, type Reply } from '../support/api.js';
import { type ProjectingServer, projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

const SESSION_MS = 120_000;
const actor = { npcId: 'diver', persona: 'A diver who counts her steps.', data: {} };
const idle = '{"dialogue": "I wait.", "action": "IDLE"}';

type Played = { readonly text?: string; readonly ghost?: Json; readonly mode?: BodyMode; readonly own?: boolean };
type Step = {
  readonly step: number;
  readonly action: { readonly type: string } | null;
  readonly outcome: null;
  readonly told: JsonObject;
  readonly turns: readonly { readonly npcId: string; readonly events: readonly { readonly type: string }[] }[];
};
type Results = {
  readonly resultsTests: readonly {
    readonly testName: string;
    readonly testPassed: boolean;
    readonly testSkipped?: true;
    readonly testError: string | null;
  }[];
  readonly resultsFindings: readonly { readonly n: number; readonly kind: string; readonly subject: string }[];
  readonly resultsMetrics: readonly (readonly [string, number])[];
  readonly resultsCoverage: number;
  readonly resultsPartial?: true;
};

const clientOf = (running: ProjectingServer) => {
  const ok = (reply: Reply, status = 200): Reply => {
    expect(reply.status, reply.text).toBe(status);
    return reply;
  };
  const ghosts = () => createGhostClient({ baseUrl: running.server.url, key: running.server.ownerKey });
  const run = async (asked: JsonObject = {}): Promise<string> =>
    (await ghosts().run({ goal: 'find_bugs', level: 'cellar', timeout: SESSION_MS, ...asked })).id;
  /** Plays one complete turn. */
  const turn = async (
    id: string,
    { text = idle, ghost, mode = 'thin', own = false }: Played = {},
  ): Promise<Finalize> => {
    const context = ghost === undefined ? {} : { ghost };
    const { instruction } = await playTurn({
      mind: { process: (_npcId, step, call) => ghosts().process(id, step, call) },
      ...{ npcId: 'anybody', mode, tapes: own ? 'own' : 'returned' },
      tape: { observation: 'Water drips from the walls.', context: context },
      actor: () => actor,
      memory: createWordMemory(),
      inference: { complete: () => Promise.resolve(text) },
    });
    return instruction;
  };
  const post = (id: string, step: StepRequest): Promise<Reply> => running.api.post(`/ghost/${id}/process`, step);
  const stepsOf = async (id: string): Promise<readonly Step[]> =>
    (ok(await running.api.get(`/ghost/${id}/steps?limit=500`)).body as { steps: Step[] }).steps;
  const statusOf = async (id: string): Promise<JsonObject> =>
    ok(await running.api.get(`/ghost/${id}/status`)).body as JsonObject;
  const over = async (id: string): Promise<Results> => {
    const results = async () => ok(await running.api.get(`/ghost/${id}/results`)).body as Results;
    await expect.poll(async () => (await results()).resultsPartial ?? false, { timeout: 60_000 }).toBe(false);
    return results();
  };
  return { ok, ghosts, run, turn, post, stepsOf, statusOf, over };
};

const testIn = ({ resultsTests }: Results, name: string) => resultsTests.find(({ testName }) => testName === name);
const refused = async (reply: Promise<Reply>): Promise<readonly unknown[]> => {
  const answer = await reply;
  return [answer.status, codeOf(answer)];
};

/** Ghost sessions whose body is an external game, as that game sees them: the same on every profile. */
export const ghostBodyScenarios = (profile: string, open: OpenServer): void => {
  describe(`a body of a ghost session on ${profile}`, () => {
    const running = projectingServer(open);
    const { ok, run, turn, post, stepsOf, statusOf, over } = clientOf(running);

    it('plays turn by turn, reports its world, and is notified of the end [9.2c, 9.3b, 9.6d, 9.6j, 9.6n, 9.6o, 9.6r]', async () => {
      const id = await run({ goal: 'complete_level', level: 'cellar', seed: 3 });
      expect(await statusOf(id)).toMatchObject({ ghostStatus: 'running', ghostDriver: 'remote', ghostStep: 0 });
      const move = '{"action": {"type": "MOVE", "payload": {"x": 3, "y": 2}}}';
      expect(await turn(id, { text: move, ghost: { position: { x: 2, y: 2 }, reached: [] } })).toMatchObject({
        valid: true,
        action: { type: 'MOVE' },
        signature: expect.any(String),
      });
      await turn(id, { ghost: { position: { x: 2, y: 2 }, outcome: { ok: false, code: 'EEL', reason: 'An eel.' } } });
      const { ghostSteps, ...status } = await statusOf(id);
      expect(status).toMatchObject({ ghostStatus: 'running', ghostStep: 2, ghostProgress: 2 / Number(ghostSteps) });
      const partial = ok(await running.api.get(`/ghost/${id}/results`)).body as Results;
      expect(partial).toMatchObject({ resultsPartial: true });
      expect(partial.resultsFindings).toContainEqual(
        expect.objectContaining({ kind: 'mind_allowed_world_refused', subject: 'MOVE/EEL', fromStep: 1, events: [0] }),
      );
      await turn(id, { ghost: { position: { x: 3, y: 2 }, outcome: { ok: true }, reached: ['stairs', 'no goal'] } });
      expect(await refused(post(id, { tape: { observation: 'More?' } }))).toEqual([409, 'GHOST_OVER']);
      const results = await over(id);
      expect(testIn(results, 'goal stairs')).toMatchObject({ testPassed: true });
      for (const kind of ['soft_lock', 'mind_refused_world_allows', 'engine_error'])
        expect(testIn(results, kind)).toMatchObject({ testSkipped: true, testError: expect.any(String) });
      expect(testIn(results, 'mind_allowed_world_refused')).toMatchObject({ testPassed: true });
      const figures = new Map(results.resultsMetrics);
      expect(figures.get('tiles.entered')).toBe(2);
      expect(results.resultsCoverage).toBeGreaterThan(0);
      for (const name of ['items.taken', 'doors.opened', 'triggers.observed', 'hp'])
        expect(figures.has(name), name).toBe(false);
      expect(await statusOf(id)).toMatchObject({ ghostStatus: 'completed', ghostStep: 3, ghostTimedOut: false });
      const steps = await stepsOf(id);
      expect(steps.map(({ step, action, outcome, told }) => ({ step, action: action?.type, outcome, told }))).toEqual([
        { step: 1, action: 'MOVE', outcome: null, told: { position: { x: 2, y: 2 }, reached: [] } },
        {
          ...{ step: 2, action: 'IDLE', outcome: null },
          told: { position: { x: 2, y: 2 }, outcome: { ok: false, code: 'EEL', reason: 'An eel.' } },
        },
        {
          ...{ step: 3, action: 'IDLE', outcome: null },
          told: { position: { x: 3, y: 2 }, outcome: { ok: true }, reached: ['stairs'] },
        },
      ]);
      expect(steps[0]?.turns).toMatchObject([{ npcId: 'ghost' }]);
      expect(steps[0]?.turns[0]?.events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['TurnOpened', 'ActorIdentified', 'MemoriesRecalled', 'VerdictReached']),
      );
      expect(ok(await running.api.get(`/ghost/${id}/picture`)).text).toMatch(/<polyline points="25,25 25,25 35,25"/);
      expect(ok(await running.api.get(`/ghost/${id}/junit`)).text).toMatch(/<testcase [^>]*name="goal stairs"\/>/);
    });

    it('ends the session by a last turn, or with the budget, and gets that result from then on [9.6l, 9.6o, 9.8a]', async () => {
      const done = await run();
      await turn(done, { ghost: { done: true } });
      await over(done);
      expect(await statusOf(done)).toMatchObject({ ghostStatus: 'completed', ghostStep: 1 });
      const spent = await run({ steps: 3 });
      for (let step = 1; step <= 3; step += 1) await turn(spent);
      expect(await refused(post(spent, { tape: { observation: 'More?' } }))).toEqual([409, 'GHOST_OVER']);
      const results = await over(spent);
      expect(await stepsOf(spent)).toHaveLength(3);
      // It reported nothing.
      expect(testIn(results, 'goal stairs')).toMatchObject({ testSkipped: true });
      expect(testIn(results, 'mind_allowed_world_refused')).toMatchObject({ testSkipped: true });
    });

    it('is stopped, or runs out of time, with the steps that it has made [9.6l]', async () => {
      const stopped = await run();
      await turn(stopped);
      ok(await running.api.post(`/ghost/${stopped}/stop`));
      expect(await refused(post(stopped, { tape: { observation: 'More?' } }))).toEqual([409, 'GHOST_OVER']);
      await over(stopped);
      expect(await statusOf(stopped)).toMatchObject({ ghostStatus: 'stopped', ghostStep: 1 });
      const late = await run({ timeout: 6_000 });
      await turn(late);
      await over(late);
      expect(await statusOf(late)).toMatchObject({ ghostStatus: 'completed', ghostTimedOut: true, ghostStep: 1 });
    });

    it('is served like any body: thin or fat, with its own tape or the returned one, with the data of the level [9.6a, 9.6c]', async () => {
      const rules = {
        rulesetId: 'quiet',
        rulesetRules: [{ drRuleId: 'no-fights', ruleAction: 'FORBID ATTACK', ruleReason: 'Nobody fights here.' }],
      };
      const map = (ok(await running.api.get('/levels/cellar')).body as { map: JsonObject }).map;
      const property = (name: string, value: string) => ({ name, type: 'string', value });
      const properties = [property('rules', JSON.stringify(rules)), property('persona', 'A quiet drowned bell.')];
      ok(await running.api('PUT', '/levels/quiet-cellar', { ...map, properties }));
      const id = await run({ level: 'quiet-cellar' });
      const attack = '{"action": {"type": "ATTACK", "target": "innkeeper"}}';
      for (const mode of ['thin', 'fat'] as const)
        for (const own of [false, true])
          expect(await turn(id, { text: attack, mode, own })).toMatchObject({
            ...{ valid: false, action: null, signature: null, dialogue: 'Nobody fights here.' },
          });
      expect((await stepsOf(id)).map(({ step, action }) => [step, action])).toEqual([
        [1, null],
        [2, null],
        [3, null],
        [4, null],
      ]);
      const { signature } = await turn(id);
      const claims = Buffer.from(String(signature).split('.')[1] ?? '', 'base64url').toString();
      expect(JSON.parse(claims)).toMatchObject({ sub: id });
      const nobody = { npcId: 'nobody', persona: null, data: {} };
      const other = await run({ level: 'quiet-cellar' });
      // The level's rules apply: a set that does not exist is not looked up.
      const first = { observation: 'It is dark.', rulesetId: 'no such set' };
      const opened = ok(await post(other, { tape: first })).body as StepAnswer;
      const asked = { tape: opened.tape, lastResult: { type: 'IdentifyActorResult', actor: nobody } } as const;
      const recall = ok(await post(other, asked)).body as StepAnswer;
      const found = { tape: recall.tape, lastResult: { type: 'QueryVectorResult', memories: [] } } as const;
      const inference = ok(await post(other, found)).body as { instruction: { type: string; prompt: string } };
      expect(inference.instruction.type).toBe('ExecuteInference');
      expect(inference.instruction.prompt).toContain('A quiet drowned bell.');
      // The persona of the body takes precedence, from the actor or in the tape.
      const brought = { observation: 'It is dark.', actor: { ...nobody, persona: 'A keeper of bells.' } };
      const third = await run({ level: 'quiet-cellar' });
      const fourth = await run({ level: 'quiet-cellar' });
      const named = ok(await post(third, { tape: first })).body as StepAnswer;
      const byActor = { tape: named.tape, lastResult: { type: 'IdentifyActorResult', actor: brought.actor } } as const;
      for (const [session, step] of [
        [third, byActor],
        [fourth, { tape: brought }],
      ] as const) {
        const { tape } = ok(await post(session, step)).body as StepAnswer;
        const { instruction } = ok(await post(session, { tape, lastResult: found.lastResult }))
          .body as typeof inference;
        expect(instruction.prompt).toContain('A keeper of bells.');
        expect(instruction.prompt).not.toContain('A quiet drowned bell.');
      }
      const fifth = await run({ level: 'quiet-cellar' });
      const atOnce = { ...brought, memories: [], vectorQueried: true, turnId: `${named.tape.turnId ?? ''}x` };
      const { instruction: immediate } = ok(await post(fifth, { tape: atOnce })).body as typeof inference;
      expect(immediate.prompt).toContain('A keeper of bells.');
      for (const session of [id, other, third, fourth, fifth]) ok(await running.api.post(`/ghost/${session}/stop`));
    });

    it('may repeat every step: nothing is recorded twice [9.6a, 9.6e]', async () => {
      const id = await run();
      const results = [
        { type: 'IdentifyActorResult', actor },
        { type: 'QueryVectorResult', memories: [] },
        { type: 'ExecuteInferenceResult', generatedOutput: idle },
      ] as const;
      let { tape } = ok(await post(id, { tape: { observation: 'A bell.' } })).body as StepAnswer;
      for (const lastResult of results) {
        const step = { tape, lastResult };
        const [first, ...again] = await Promise.all([post(id, step), post(id, step), post(id, step)]);
        for (const reply of again) expect(reply.text).toBe(ok(first).text);
        ({ tape } = first.body as StepAnswer);
      }
      const { turnId = '' } = tape;
      // Also the first tape with its id, and a tape that contradicts the record.
      const own = { observation: 'A bell.', turnId };
      const last = { type: 'ExecuteInferenceResult', generatedOutput: idle } as const;
      expect(ok(await post(id, { tape: own, lastResult: last })).body).toMatchObject({
        instruction: { type: 'Finalize' },
      });
      expect(ok(await post(id, { tape: { ...own, observation: 'No bell.' }, lastResult: last })).body).toMatchObject({
        instruction: { type: 'Finalize' },
        tape: { observation: 'A bell.' },
      });
      expect(await stepsOf(id)).toHaveLength(1);
      // An unknown turn is resumed from its tape, and is a separate step when it ends.
      const lost = { observation: 'A gong.', actor, memories: [], vectorQueried: true, turnId: `${turnId}x` };
      expect(ok(await post(id, { tape: lost, lastResult: last })).body).toMatchObject({
        instruction: { type: 'Finalize' },
      });
      expect((await stepsOf(id)).map(({ step }) => step)).toEqual([1, 2]);
      const keyed = (step: StepRequest) =>
        running.api.post(`/ghost/${id}/process`, step, { 'idempotency-key': 'once' });
      const twice = [await keyed({ tape: { observation: 'Once.' } }), await keyed({ tape: { observation: 'Once.' } })];
      expect(twice[1]?.text).toBe(ok(twice[0] as Reply).text);
      ok(await running.api.post(`/ghost/${id}/stop`));
    });

    it('may report anything about its world: unintelligible reports are ignored [9.6j, 9.6k]', async () => {
      const wrong: readonly Json[] = [
        ...['x', 7, [], null, { position: 'here', outcome: 'good', reached: 'all', done: 'yes' }],
        { position: { x: 1.5, y: 1 }, outcome: { ok: 'no' }, reached: { stairs: true }, done: 1 },
        { position: { x: -1, y: 1 }, outcome: [], reached: [1, null, ['stairs']] },
        { position: { x: 1_000_000, y: 1 }, outcome: { reason: 'x' } },
      ];
      const id = await run({ goal: 'complete_level' });
      for (const ghost of wrong) expect(await turn(id, { ghost })).toMatchObject({ valid: true });
      const long = { outcome: { ok: false, code: 'no word', reason: 'r'.repeat(10_000) } };
      await turn(id, { ghost: long });
      const told = (await stepsOf(id)).map((step) => step.told);
      expect(told.slice(0, -1)).toEqual([{}, {}, {}, {}, {}, {}, { reached: [] }, {}]);
      expect(told.at(-1)).toMatchObject({ outcome: { ok: false, code: 'REFUSED' } });
      expect((told.at(-1) as { outcome: { reason: string } }).outcome.reason.length).toBeLessThanOrEqual(300);
      expect(await statusOf(id)).toMatchObject({ ghostStatus: 'running' });
      ok(await running.api.post(`/ghost/${id}/stop`));
    });

    it('may send as much as any body: a turn too large for a step is stored in part [9.6s]', async () => {
      const id = await run();
      const large = 'x'.repeat(500_000);
      await turn(id, { ghost: { note: 'x'.repeat(390_000) } });
      const [whole] = await stepsOf(id);
      expect(JSON.stringify(whole).length).toBeGreaterThan(390_000);
      await turn(id, { text: large, ghost: { note: 'x'.repeat(400_000) } });
      const [, step] = await stepsOf(id);
      expect(step).toMatchObject({ step: 2, action: { type: 'SPEAK' } });
      expect(JSON.stringify(step).length).toBeLessThan(401_000);
      const shortened = step?.turns[0]?.events.find(({ type }) => type === 'TurnOpened');
      expect(shortened).toEqual({ type: 'TurnOpened', version: 1, data: { turnId: expect.any(String) } });
      expect(await turn(id)).toMatchObject({ valid: true });
      expect(await stepsOf(id)).toHaveLength(3);
      ok(await running.api.post(`/ghost/${id}/stop`));
      await over(id);
    });

    it('may consist of two concurrent bodies: each turn that ends is one step [9.6e, 9.6i]', async () => {
      const id = await run();
      const play = async (name: string, x: number): Promise<void> => {
        const ghost = { position: { x, y: 2 } };
        for (let count = 0; count < 12; count += 1)
          await turn(id, { text: `{"dialogue": "${name} ${String(count)}", "action": "IDLE"}`, ghost });
      };
      await Promise.all([play('one', 2), play('other', 3)]);
      const steps = await stepsOf(id);
      expect(steps.map(({ step }) => step)).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
      const said = steps.map(({ turns }) => JSON.stringify(turns).match(/(one|other) \d+/)?.[0]);
      expect(new Set(said).size).toBe(24);
      ok(await running.api.post(`/ghost/${id}/stop`));
      expect(await statusOf(id)).toMatchObject({ ghostStep: 24 });
      // Each body reported one tile.
      expect(new Map((await over(id)).resultsMetrics).get('tiles.entered')).toBe(2);
    });

    it('leaves no trace among the minds of the studio [9.6b]', async () => {
      const id = await run();
      await turn(id);
      expect((ok(await running.api.get('/npcs')).body as { npcId: string }[]).map(({ npcId }) => npcId)).toEqual([
        'first-one',
      ]);
      for (const npcId of [id, 'ghost', 'diver', 'anybody']) {
        expect(await refused(running.api.get(`/npcs/${npcId}`))).toEqual([404, 'NPC_NOT_FOUND']);
        expect(ok(await running.api.get(`/npcs/${npcId}/memory`)).body).toEqual([]);
      }
      ok(await running.api.post(`/ghost/${id}/stop`));
    });

    it('sees only sessions of its studio that wait for a body [9.6m, 9.8o, 9.11b]', async () => {
      const step: StepRequest = { tape: { observation: 'Hello?' } };
      const local = (
        ok(await running.api.post('/v1/ghost/run', { goal: 'complete_level', seed: 7 }), 202).body as {
          id: string;
        }
      ).id;
      expect(await refused(post(local, step))).toEqual([409, 'GHOST_NOT_REMOTE']);
      await over(local);
      expect(await refused(post(local, step))).toEqual([409, 'GHOST_NOT_REMOTE']);
      for (const unknown of ['g0_0_aaaaaaaaaaaaaaaa', 'nothing'])
        expect(await refused(post(unknown, step))).toEqual([404, 'GHOST_NOT_FOUND']);
      const withEngine = { goal: 'find_bugs', driver: 'remote', engine: 'scripted' };
      expect(await refused(running.api.post('/v1/ghost/run', withEngine))).toEqual([400, 'SCHEMA_INVALID']);
      const id = await run();
      const made = ok(await running.api.post('/tenants', { tenantId: 'another-studio' }), 201).body as { key: string };
      const theirs = patientApiOf(running.server.url, made.key);
      expect(await refused(theirs.post(`/ghost/${id}/process`, step))).toEqual([404, 'GHOST_NOT_FOUND']);
      expect(await refused(running.api.post(`/ghost/${id}/process`, { tape: {} }))).toEqual([400, 'SCHEMA_INVALID']);
      expect(await stepsOf(id)).toEqual([]);
      const compared = ok(await running.api.get(`/ghost/${local}/compare/${local}`)).body as object;
      expect(compared).toMatchObject({ comparable: true });
      await turn(id, { ghost: { done: true } });
      await over(id);
      expect(ok(await running.api.get(`/ghost/${local}/compare/${id}`)).body).toMatchObject({ comparable: false });
    });

    it('has findings of which only those about the level itself can be replayed [9.6p, 9.10b]', async () => {
      const id = await run({ level: 'faulty' });
      await turn(id, { text: '{"action": {"type": "DANCE"}}' });
      await turn(id, { ghost: { outcome: { ok: false, code: 'NO_MUSIC' }, done: true } });
      const { resultsFindings } = await over(id);
      const numberOf = (wanted: string): string =>
        String(resultsFindings.find(({ kind, subject }) => `${kind} ${subject}` === wanted)?.n);
      const danced = numberOf('mind_allowed_world_refused DANCE/NO_MUSIC');
      expect(await refused(running.api.get(`/ghost/${id}/findings/${danced}/repro`))).toEqual([
        404,
        'FINDING_NOT_FOUND',
      ]);
      const walled = numberOf('unreachable_goal walled-up room');
      const repro = ok(await running.api.get(`/ghost/${id}/findings/${walled}/repro`)).body as object;
      expect(repro).toMatchObject({ steps: 0, minimal: true });
      expect(ok(await running.api.post('/ghost/replay', repro)).body).toMatchObject({ reproduced: true });
    });
  });
};

/** Bodies of ghost sessions whose server is killed. */
export const ghostBodyKillScenarios = (profile: string, open: OpenServer): void => {
  describe(`a body of a ghost session on ${profile}, whose server is killed`, () => {
    const running = projectingServer(open);
    const { ok, run, turn, post, stepsOf, statusOf, over } = clientOf(running);
    const restart = async (): Promise<void> => {
      await running.server.restart('kill');
      running.again();
    };

    it('continues in mid-turn, and loses and duplicates no step [9.6h, 9.6m]', async () => {
      const id = await run({ goal: 'complete_level' });
      await turn(id, { ghost: { position: { x: 2, y: 2 } } });
      let { tape } = ok(await post(id, { tape: { observation: 'A bell.' } })).body as StepAnswer;
      const results = [
        { type: 'IdentifyActorResult', actor },
        { type: 'QueryVectorResult', memories: [] },
        { type: 'ExecuteInferenceResult', generatedOutput: idle },
      ] as const;
      for (const lastResult of results) {
        if (lastResult.type !== 'QueryVectorResult') await restart();
        ({ tape } = ok(await post(id, { tape, lastResult })).body as StepAnswer);
      }
      await restart();
      expect(ok(await post(id, { tape, lastResult: results[2] })).body).toMatchObject({
        instruction: { type: 'Finalize', valid: true },
      });
      expect((await stepsOf(id)).map(({ step }) => step)).toEqual([1, 2]);
      await turn(id, { ghost: { reached: ['stairs'] } });
      await restart();
      expect(await refused(post(id, { tape, lastResult: results[2] }))).toEqual([409, 'GHOST_OVER']);
      await over(id);
      expect(await statusOf(id)).toMatchObject({ ghostStatus: 'completed', ghostStep: 3 });
    }, 240_000);

    it('finds each turn that ended as a step, whenever the server died [9.6g]', async () => {
      const id = await run();
      for (const [index, waitMs] of [2, 9, 20].entries()) {
        const opened = ok(await post(id, { tape: { observation: 'A bell.' } })).body as StepAnswer;
        const named = { tape: opened.tape, lastResult: { type: 'IdentifyActorResult', actor } } as const;
        const recall = ok(await post(id, named)).body as StepAnswer;
        const found = { tape: recall.tape, lastResult: { type: 'QueryVectorResult', memories: [] } } as const;
        const { tape } = ok(await post(id, found)).body as StepAnswer;
        const last = { tape, lastResult: { type: 'ExecuteInferenceResult', generatedOutput: idle } } as const;
        const sent = post(id, last).catch(() => null);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        await restart();
        await sent;
        const before = (await stepsOf(id)).length;
        expect([index, index + 1]).toContain(before);
        ok(await post(id, last));
        expect(await stepsOf(id)).toHaveLength(index + 1);
      }
      ok(await running.api.post(`/ghost/${id}/stop`));
      await over(id);
      expect(await statusOf(id)).toMatchObject({ ghostStatus: 'stopped', ghostStep: 3 });
    }, 240_000);
  });
};
