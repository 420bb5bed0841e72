import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { JsonObject } from '../../src/kernel/base/json.js';
import { codeOf, type Reply } from '../support/api.js';
import { walkOn } from '../support/ghost-model.js';
import { type OpenAiServer, startOpenAiServer } from '../support/openai-server.js';
import { type ProjectingServer, projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

type Asked = { readonly messages: readonly { readonly role: string; readonly content: string }[] };
type Step = {
  readonly step: number;
  readonly turns: readonly { readonly events: readonly { readonly type: string; readonly data: JsonObject }[] }[];
};
type Finding = { readonly n: number; readonly kind: string };

/** How long a session may take in a test, in milliseconds. */
const SESSION_MS = 90_000;
const promptOf = (body: unknown): string => (body as Asked).messages.map(({ content }) => content).join('\n');
const walking = { kind: 'reply', to: (body: unknown) => walkOn(promptOf(body)) } as const;
const broken = { kind: 'raw', status: 500, contentType: 'application/json', body: '{}' } as const;

/** A model server that plays until its behaviour is changed, for one suite. */
const modelServer = (): { readonly models: OpenAiServer } => {
  const opened = {} as { models: OpenAiServer };
  beforeAll(async () => {
    opened.models = await startOpenAiServer();
    opened.models.behave(walking);
  });
  afterEach(() => opened.models.behave(walking));
  afterAll(() => opened.models[Symbol.asyncDispose]());
  return opened;
};

/** The server under test knows the model server by its address, which exists once that has started. */
const askingModels =
  (open: OpenServer, opened: { readonly models: OpenAiServer }): OpenServer =>
  () =>
    open({ ANIMA_CORTEX_URL: opened.models.url, ANIMA_CORTEX_MODEL: 'tiny-270m' });

const clientOf = (running: ProjectingServer) => {
  const ok = (reply: Reply, status = 200): JsonObject => {
    expect(reply.status, reply.text).toBe(status);
    return reply.body as JsonObject;
  };
  const run = async (body: object): Promise<string> =>
    ok(await running.api.post('/v1/ghost/run', { timeout: SESSION_MS, engine: 'openai', ...body }), 202)[
      'id'
    ] as string;
  const statusOf = async (id: string) => ok(await running.api.get(`/ghost/${id}/status`));
  const over = async (id: string): Promise<JsonObject> => {
    const resultsOf = async () => ok(await running.api.get(`/ghost/${id}/results`));
    await expect
      .poll(async () => (await resultsOf())['resultsPartial'] ?? false, { timeout: SESSION_MS, interval: 300 })
      .toBe(false);
    return resultsOf();
  };
  const textsOf = async (id: string): Promise<readonly unknown[]> => {
    const { steps } = ok(await running.api.get(`/ghost/${id}/steps?limit=500`)) as unknown as { steps: Step[] };
    expect(steps.map(({ step }) => step)).toEqual(steps.map((_, index) => index + 1));
    return steps.map(
      ({ turns }) => turns[0]?.events.find(({ type }) => type.startsWith('Verdict'))?.data['generatedOutput'],
    );
  };
  return { ok, run, statusOf, over, textsOf };
};

/** Ghosts played by a model, as clients see them over HTTP: the same on every profile. */
export const ghostEngineScenarios = (profile: string, open: OpenServer): void => {
  describe(`ghosts that a model plays on ${profile}`, () => {
    const opened = modelServer();
    const running = projectingServer(askingModels(open, opened));
    const { ok, run, statusOf, over, textsOf } = clientOf(running);

    it("record the model's texts, one call for each step [7.3a, 9.2b, 9.8p, 9.8t]", async () => {
      const before = opened.models.seen.length;
      const id = await run({ goal: 'maximize_exploration', level: 'cellar', seed: 7, steps: 30, engine: 'tiny-270m' });
      expect(await over(id)).toMatchObject({ resultsEngine: 'openai' });
      expect(await statusOf(id)).toMatchObject({ ghostEngine: 'openai', ghostStep: 30, ghostWaiting: null });
      const asked = opened.models.seen.slice(before).map(({ body }) => promptOf(body));
      expect(asked[0]).toMatch(/Your task: enter every tile/);
      expect(await textsOf(id)).toEqual(asked.map(walkOn));
    });

    it('are played by the named engine, by the policy if that is the scripted engine, and never by an unknown one [9.8m, 9.8n, 9.8o]', async () => {
      const before = opened.models.seen.length;
      const policies = [await run({ goal: 'complete_level', engine: 'scripted' })];
      policies.push(await run({ goal: 'complete_level', engine: null }));
      for (const id of policies) {
        await over(id);
        expect(await statusOf(id)).toMatchObject({ ghostEngine: 'scripted', ghostStatus: 'completed' });
      }
      expect(opened.models.seen).toHaveLength(before);
      const suite = { testSuite: 'smoke', level: 'cellar', steps: 2, engine: 'api-integrated' };
      const { sessionId } = ok(await running.api.post('/ghost/run', suite));
      await over(sessionId as string);
      expect(await statusOf(sessionId as string)).toMatchObject({ ghostEngine: 'openai' });
      const unknown = await running.api.post('/v1/ghost/run', { goal: 'find_bugs', engine: 'gpt-9' });
      expect([unknown.status, codeOf(unknown)]).toEqual([404, 'CORTEX_NOT_FOUND']);
      const long = await running.api.post('/v1/ghost/run', { goal: 'find_bugs', engine: 'x'.repeat(257) });
      expect([long.status, codeOf(long)]).toEqual([400, 'SCHEMA_INVALID']);
    });

    it('show their findings without the model: they are reproduced and replayed from the record [9.8t]', async () => {
      const intoTheWall = { dialogue: '', action: { type: 'MOVE', payload: { x: 0, y: 0 } } };
      opened.models.behave(walking, walking, { kind: 'answer', text: JSON.stringify(intoTheWall) }, walking);
      const id = await run({ goal: 'find_bugs', level: 'cellar', seed: 7, steps: 20 });
      const { resultsFindings } = (await over(id)) as unknown as { resultsFindings: Finding[] };
      const { n } = resultsFindings.find(({ kind }) => kind === 'mind_allowed_world_refused') as Finding;
      opened.models.behave(broken);
      const before = opened.models.seen.length;
      const repro = ok(await running.api.get(`/ghost/${id}/findings/${String(n)}/repro`));
      expect(repro).toMatchObject({ steps: 1, minimal: true });
      const [{ text }] = repro['script'] as unknown as readonly [{ text: string }];
      expect(await textsOf(id)).toContain(text);
      expect(ok(await running.api.post('/ghost/replay', repro))).toMatchObject({ reproduced: true, steps: 1 });
      expect(opened.models.seen).toHaveLength(before);
    });

    it('wait while the model server is broken, report it, and continue when it is back [9.2d, 9.8u]', async () => {
      opened.models.behave(walking, walking, walking, broken);
      const id = await run({ goal: 'find_bugs', level: 'cellar', seed: 7, steps: 12 });
      await expect
        .poll(async () => (await statusOf(id))['ghostWaiting'], { timeout: 30_000 })
        .toMatch(/model server responded with HTTP 500/);
      expect(await statusOf(id)).toMatchObject({ ghostStatus: 'running', ghostStep: 3, ghostErrors: [] });
      opened.models.behave(walking);
      await over(id);
      expect(await statusOf(id)).toMatchObject({ ghostStatus: 'completed', ghostStep: 12, ghostWaiting: null });
    });

    it('end immediately when they are stopped or their time is over, even during a model call [9.8u]', async () => {
      const answered = async (id: string): Promise<void> => {
        await expect.poll(async () => (await statusOf(id))['ghostStep'], { timeout: 30_000 }).toBe(2);
        await expect.poll(() => opened.models.openConnections(), { timeout: 30_000 }).toBe(1);
      };
      opened.models.behave(walking, walking, { kind: 'silent' });
      const stopped = await run({ goal: 'find_bugs', level: 'cellar', seed: 7 });
      await answered(stopped);
      ok(await running.api.post(`/ghost/${stopped}/stop`));
      await opened.models.quiet();
      await over(stopped);
      expect(await statusOf(stopped)).toMatchObject({ ghostStatus: 'stopped', ghostStep: 2 });
      opened.models.behave(walking, walking, { kind: 'silent' });
      const late = await run({ goal: 'find_bugs', level: 'cellar', seed: 7, timeout: 6_000 });
      await answered(late);
      await opened.models.quiet();
      await over(late);
      expect(await statusOf(late)).toMatchObject({ ghostStatus: 'completed', ghostTimedOut: true, ghostStep: 2 });
    });
  });
};

/** Sessions of ghosts that a model plays, whose server is killed. */
export const ghostEngineKillScenarios = (profile: string, open: OpenServer): void => {
  describe(`ghosts that a model plays on ${profile}, after kills`, () => {
    const opened = modelServer();
    const running = projectingServer(askingModels(open, opened));
    const { run, statusOf, over, textsOf } = clientOf(running);

    it('continue without requesting a recorded text again [9.8t]', async () => {
      opened.models.behave({ ...walking, ms: 20 });
      const steps = 150;
      const id = await run({ goal: 'find_bugs', level: 'market', seed: 7, steps });
      const kills = [10, 40, 80];
      for (const step of kills) {
        const played = async () => Number((await statusOf(id))['ghostStep']);
        await expect.poll(played, { timeout: 60_000 }).toBeGreaterThanOrEqual(step);
        expect(await statusOf(id)).toMatchObject({ ghostStatus: 'running' });
        await running.server.restart('kill');
        running.again();
      }
      expect(await over(id)).toMatchObject({ resultsEngine: 'openai', resultsTimedOut: false });
      const texts = await textsOf(id);
      expect(texts).toHaveLength(steps);
      // A kill loses only the text in flight.
      expect(opened.models.seen.length).toBeLessThanOrEqual(steps + kills.length);
      const said = new Set(opened.models.seen.map(({ body }) => walkOn(promptOf(body))));
      expect(texts.every((text) => said.has(text as string))).toBe(true);
    }, 300_000);
  });
};
