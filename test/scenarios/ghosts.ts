import { describe, expect, it } from 'vitest';

import type { JsonObject } from '../../src/kernel/base/json.js';
import { patientApiOf, codeOf, type Reply } from '../support/api.js';
import { comparableResults, comparableSteps, type GhostResults, type GhostStep } from '../support/ghosts.js';
import { type ProjectingServer, projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

/** The intended defects of the level `faulty`. */
const planted = ['unreachable_goal', 'soft_lock', 'unusable_item', 'rules_contradict', 'rule_never_fired'];

/** How long a session may take in a test, in milliseconds; they take seconds. */
const SESSION_MS = 240_000;

const clientOf = (running: ProjectingServer) => {
  const ok = (reply: Reply, status = 200): Reply => {
    expect(reply.status, reply.text).toBe(status);
    return reply;
  };
  const run = async (body: object): Promise<string> =>
    (ok(await running.api.post('/v1/ghost/run', { timeout: SESSION_MS, ...body }), 202).body as { id: string }).id;
  const statusOf = async (id: string): Promise<JsonObject> =>
    ok(await running.api.get(`/ghost/${id}/status`)).body as JsonObject;
  const resultsOf = async (id: string): Promise<GhostResults> =>
    ok(await running.api.get(`/ghost/${id}/results`)).body as GhostResults;
  const over = async (id: string): Promise<GhostResults> => {
    await expect
      .poll(async () => (await resultsOf(id)).resultsPartial ?? false, { timeout: SESSION_MS, interval: 300 })
      .toBe(false);
    return resultsOf(id);
  };
  const stepsOf = async (id: string): Promise<readonly GhostStep[]> => {
    const all: GhostStep[] = [];
    for (let from: number | undefined = 1; from !== undefined;) {
      const page = ok(await running.api.get(`/ghost/${id}/steps?from=${String(from)}&limit=500`)).body as {
        steps: GhostStep[];
        next?: number;
      };
      all.push(...page.steps);
      from = page.next;
    }
    return all;
  };
  return { ok, run, statusOf, resultsOf, over, stepsOf };
};

/** Ghost sessions, as clients see them over HTTP: the same on every profile. */
export const ghostScenarios = (profile: string, open: OpenServer): void => {
  describe(`ghost sessions on ${profile}`, () => {
    const running = projectingServer(open);
    const { ok, run, statusOf, resultsOf, over, stepsOf } = clientOf(running);

    it('play a level to its goal, and report what they did [7.3a, 7.3b, 7.3c, 7.3d, 9.2a, 9.2b, 9.3a, 9.9e, 9.9l, 9.9m]', async () => {
      const askedMs = Date.now();
      const accepted = ok(await running.api.post('/v1/ghost/run', { goal: 'complete_level', seed: 7 }), 202);
      const { id, startedAt } = accepted.body as { id: string; startedAt: string };
      // The server rounds the time to milliseconds, and its clock is the clock of the test.
      expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(askedMs - 1);
      expect(Date.parse(startedAt)).toBeLessThanOrEqual(Date.now());
      expect(accepted.headers.get('location')).toBe(`/ghost/${id}/status`);
      expect(accepted.body).toMatchObject({ status: 'pending', progress: 0, startedAt: expect.any(String), seed: 7 });
      expect(accepted.body).not.toHaveProperty('completedAt');
      const results = await over(id);
      expect(
        results.resultsTests.filter(({ testName }) => testName.startsWith('goal')).every((test) => test.testPassed),
      ).toBe(true);
      expect(results).toMatchObject({
        ...{ resultsSessionId: id, resultsTotalTests: results.resultsTests.length, resultsFailed: 0 },
        ...{ resultsPassed: expect.any(Number), resultsSkipped: expect.any(Number) },
        ...{ resultsDuration: expect.any(Number), resultsCoverage: expect.any(Number) },
      });
      for (const test of results.resultsTests)
        expect(test).toMatchObject({
          ...{ testName: expect.any(String), testDuration: expect.any(Number), testScreenshot: null },
          ...(test.testSkipped === true
            ? { testPassed: false, testError: expect.any(String) }
            : { testPassed: true, testError: null }),
        });
      const skipped = results.resultsTests.filter(({ testSkipped }) => testSkipped === true).length;
      expect(results).toMatchObject({
        resultsSkipped: skipped,
        resultsPassed: results.resultsTests.length - skipped,
      });
      expect(skipped).toBeGreaterThan(0);
      for (const figure of results.resultsMetrics) expect(figure).toEqual([expect.any(String), expect.any(Number)]);
      expect(await statusOf(id)).toMatchObject({
        ...{ ghostStartedAt: expect.any(String), ghostDuration: expect.any(Number), ghostSeed: 7 },
        ...{ ghostSteps: expect.any(Number), ghostCompletedAt: expect.any(String), ghostDriver: 'local' },
        ...{ ghostEngine: 'scripted', ghostWaiting: null },
        ...{ ghostSessionId: id, ghostStatus: 'completed', ghostProgress: 1, ghostErrors: [], ghostTimedOut: false },
        ghostGoal: 'complete_level',
        ghostLevel: { levelId: 'cellar', version: null, generated: false },
      });
      const steps = await stepsOf(id);
      expect(steps.map(({ step }) => step)).toEqual(steps.map((_, index) => index + 1));
      expect(steps[0]).toMatchObject({
        ...{ revision: 0, turns: [{ npcId: 'ghost', events: expect.any(Array) as object[] }] },
        ...{ action: { type: expect.any(String) as string }, outcome: { ok: expect.any(Boolean) as boolean } },
        ms: expect.any(Number) as number,
      });
      const part = ok(await running.api.get(`/ghost/${id}/steps?from=2&limit=1`)).body;
      expect(part).toMatchObject({ sessionId: id, next: 3, steps: [{ step: 2 }] });
      expect(ok(await running.api.get(`/ghost/${id}/steps?limit=500`)).body).not.toHaveProperty('next');
      expect((await running.api.get(`/ghost/${id}/steps?limit=501`)).status).toBe(400);
      expect(await statusOf(id)).toMatchObject({ ghostStep: steps.length });
    });

    it('leave no trace among the minds of the studio [9.8k]', async () => {
      await over(await run({ goal: 'collect_metrics', seed: 1 }));
      expect((ok(await running.api.get('/npcs')).body as { npcId: string }[]).map(({ npcId }) => npcId)).toEqual([
        'first-one',
      ]);
      expect((await running.api.get('/npcs/ghost')).status).toBe(404);
    });

    it('are the same for the same goal, level and seed, and differ for another seed [7.3d, 9.8l, 9.11b]', async () => {
      const asked = { goal: 'find_bugs', level: 'a made up place', seed: 11, steps: 500 };
      const ids = await Promise.all([run(asked), run(asked), run({ ...asked, seed: 12 })]);
      const [one, same, other] = await Promise.all(ids.map(over));
      const [oneSteps, sameSteps, otherSteps] = await Promise.all(ids.map(stepsOf));
      expect(comparableSteps(sameSteps ?? [])).toEqual(comparableSteps(oneSteps ?? []));
      expect(comparableSteps(otherSteps ?? [])).not.toEqual(comparableSteps(oneSteps ?? []));
      expect(comparableResults(same as GhostResults)).toEqual(comparableResults(one as GhostResults));
      expect((other as GhostResults).resultsPartial).toBeUndefined();
      for (const [id, comparable] of [
        [ids[1], true],
        [ids[2], false],
      ] as const)
        expect(ok(await running.api.get(`/ghost/${ids[0]}/compare/${id}`)).body).toMatchObject({ comparable });
      expect(await statusOf(ids[0])).toMatchObject({ ghostLevel: { levelId: 'a made up place', generated: true } });
    });

    it('stop on request, and stay stopped [9.4a, 9.4b, 9.11c]', async () => {
      const id = await run({ goal: 'find_bugs', level: 'market', seed: 3 });
      await expect.poll(async () => (await statusOf(id))['ghostStep'], { timeout: 30_000 }).not.toBe(0);
      const early = await running.api.get(`/ghost/${id}/compare/${id}`);
      expect([early.status, codeOf(early)]).toEqual([409, 'GHOST_RUNNING']);
      const stopped = { stopStatus: 'stopped', stopSessionId: id };
      expect(ok(await running.api.post(`/ghost/${id}/stop`)).body).toEqual(stopped);
      expect(await statusOf(id)).toMatchObject({ ghostStatus: 'stopped' });
      await over(id);
      const { length } = await stepsOf(id);
      expect(await statusOf(id)).toMatchObject({ ghostStep: length });
      expect(ok(await running.api.post(`/ghost/${id}/stop`)).body).toEqual(stopped);
      const ended = await run({ goal: 'complete_level', seed: 7 });
      await over(ended);
      expect(ok(await running.api.post(`/ghost/${ended}/stop`)).body).toEqual({
        ...{ stopStatus: 'stopped', stopSessionId: ended },
      });
      expect(await statusOf(ended)).toMatchObject({ ghostStatus: 'completed' });
    });

    it('end when their time is over [9.8b, 9.8c]', async () => {
      const id = await run({ goal: 'find_bugs', level: 'market', seed: 3, timeout: 400 });
      await over(id);
      expect(await statusOf(id)).toMatchObject({ ghostStatus: 'completed', ghostTimedOut: true });
      const seedless = { goal: 'find_bugs', level: 'market', timeout: 1 };
      const { id: other, seed } = ok(await running.api.post('/v1/ghost/run', seedless), 202).body as {
        readonly id: string;
        readonly seed: number;
      };
      expect(seed).toEqual(expect.any(Number));
      expect(await statusOf(other)).toMatchObject({ ghostSeed: seed });
    });

    it('can be run as suites, and are listed newest first [9.1a, 9.1c, 9.5a, 9.5b]', async () => {
      const started = ok(await running.api.post('/ghost/run', { testSuite: 'smoke', level: 'faulty', seed: 5 }));
      const { sessionId } = started.body as { sessionId: string };
      expect(started.body).toEqual({ sessionId, runStatus: 'pending', seed: 5 });
      await over(sessionId);
      // A list may lag for a client that has not written since.
      const newest = async (): Promise<JsonObject | undefined> => {
        const listed = ok(await running.api.get('/ghost/history?limit=1')).body as { sessions: JsonObject[] };
        expect(listed.sessions).toHaveLength(1);
        return listed.sessions[0];
      };
      await expect.poll(newest, { timeout: SESSION_MS }).toMatchObject({
        ...{ histSessionId: sessionId, histTestSuite: 'smoke', histStatus: 'completed', histGoal: 'find_bugs' },
        ...{ histSeed: 5, histLevel: { levelId: 'faulty' }, histPassRate: expect.any(Number) },
        ...{ histStartedAt: expect.any(String), histCompletedAt: expect.any(String) },
      });
      expect(codeOf(await running.api.get('/ghost/history?limit=501'))).toBe('SCHEMA_INVALID');
      const asked = { testSuite: 'smoke', duration: 300, goal: 'complete_level', timeout: 1 };
      const { sessionId: other } = ok(await running.api.post('/ghost/run', asked)).body as { sessionId: string };
      await over(other);
      expect(await statusOf(other)).toMatchObject({ ghostGoal: 'complete_level', ghostTimedOut: true });
      const newestTwo = async () => {
        const listed = ok(await running.api.get('/ghost/history?limit=2')).body as { sessions: JsonObject[] };
        return listed.sessions.map(({ histSessionId }) => histSessionId);
      };
      await expect.poll(newestTwo, { timeout: SESSION_MS }).toEqual([other, sessionId]);
    });

    it('find the defects of a level', async () => {
      const { resultsFindings } = await over(await run({ goal: 'find_bugs', level: 'faulty', seed: 5 }));
      const kinds = new Set(resultsFindings.map(({ kind }) => kind));
      for (const kind of planted) expect([...kinds]).toContain(kind);
    });

    it('reproduce a finding in as few steps as possible, and replay it [9.10a, 9.10b, 9.10f, 9.10g]', async () => {
      const id = await run({ goal: 'find_bugs', level: 'faulty', seed: 5 });
      const { resultsFindings } = await over(id);
      const { length } = await stepsOf(id);
      const shown = resultsFindings.filter(
        ({ kind, detail }) => planted.includes(kind) && !detail.includes('decisions'),
      );
      expect(new Set(shown.map(({ kind }) => kind))).toEqual(new Set(planted));
      for (const { n, kind, subject } of shown) {
        const repro = ok(await running.api.get(`/ghost/${id}/findings/${String(n)}/repro`)).body as {
          steps: number;
          script: { text: string }[];
        };
        expect(repro).toMatchObject({ format: 'anima-ghost-repro/1', finding: { kind, subject }, minimal: true });
        expect(repro.script).toHaveLength(repro.steps);
        expect(repro.steps, kind).toBeLessThanOrEqual(length / 10);
        const again = ok(await running.api.post('/ghost/replay', repro)).body as { reproduced: boolean };
        expect(again).toMatchObject({ reproduced: true, steps: repro.steps });
        // It needs all of its steps.
        if (repro.steps === 0) continue;
        const less = { ...repro, script: repro.script.slice(0, -1) };
        expect(ok(await running.api.post('/ghost/replay', less)).body).toMatchObject({ reproduced: false });
      }
      const none = await running.api.get(`/ghost/${id}/findings/999/repro`);
      expect([none.status, codeOf(none)]).toEqual([404, 'FINDING_NOT_FOUND']);
      const wrong = await running.api.post('/ghost/replay', { format: 'anima-ghost-repro/2' });
      expect([wrong.status, codeOf(wrong)]).toEqual([400, 'SCHEMA_INVALID']);
    }, 300_000);

    it('can be compared, drawn, and reported to pipelines [9.11a, 9.11b, 9.12a, 9.12b, 9.12c, 9.12d]', async () => {
      const ids = await Promise.all([
        run({ goal: 'find_bugs', level: 'faulty', seed: 5 }),
        run({ goal: 'find_bugs', level: 'cellar', seed: 5 }),
      ]);
      const [faulty, cellar] = ids;
      const results = await over(faulty);
      await over(cellar);
      const compared = ok(await running.api.get(`/ghost/${cellar}/compare/${faulty}`)).body as {
        comparable: boolean;
        added: { kind: string }[];
      };
      expect(compared.comparable).toBe(false);
      expect(compared.added.map(({ kind }) => kind)).toContain('unreachable_goal');
      const same = ok(await running.api.get(`/ghost/${faulty}/compare/${faulty}`)).body as object;
      expect(same).toMatchObject({ comparable: true, added: [], gone: [], kept: results.resultsFindings });
      const picture = ok(await running.api.get(`/ghost/${faulty}/picture`));
      expect(picture.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
      expect(picture.text).toMatch(/^<svg [^]*<title>goal way out<\/title>[^]*<\/svg>\n$/);
      const png = ok(await running.api.get(`/ghost/${faulty}/picture?format=png`));
      expect(png.headers.get('content-type')).toMatch(/^image\/png/);
      expect(png.text).toContain('PNG\r\n');
      const junit = ok(await running.api.get(`/ghost/${faulty}/junit`)).text;
      const failed = results.resultsTests.filter(({ testPassed, testSkipped }) => !testPassed && testSkipped !== true);
      for (const test of results.resultsTests)
        expect(test).toMatchObject({
          testScreenshot: failed.includes(test) ? expect.stringMatching(/picture\?format=png$/) : null,
        });
      expect(junit.match(/<failure /g)).toHaveLength(failed.length);
    }, 180_000);

    it('are refused for invalid requests, and belong to their studio [1.3j, 7.3a, 9.8a, 9.8c, 9.8h]', async () => {
      const wrong = await running.api.post('/v1/ghost/run', { goal: 'win' });
      expect([wrong.status, codeOf(wrong)]).toEqual([400, 'SCHEMA_INVALID']);
      const limits = [{ timeout: 86_400_001 }, { timeout: 0 }, { steps: 1_000_001 }, { steps: 0 }];
      for (const beyond of [...limits, { driver: 'elsewhere' }])
        expect(codeOf(await running.api.post('/v1/ghost/run', { goal: 'find_bugs', ...beyond }))).toBe(
          'SCHEMA_INVALID',
        );
      const once = () =>
        running.api.post('/v1/ghost/run', { goal: 'complete_level', timeout: 1 }, { 'idempotency-key': 'one-session' });
      expect((await once()).text).toBe((await once()).text);
      for (const path of ['status', 'results', 'steps']) {
        const none = await running.api.get(`/ghost/g0_0_aaaaaaaaaaaaaaaa/${path}`);
        expect([none.status, codeOf(none)]).toEqual([404, 'GHOST_NOT_FOUND']);
      }
      const made = ok(await running.api.post('/tenants', { tenantId: 'other-studio' }), 201).body as { key: string };
      const id = await run({ goal: 'complete_level', seed: 7 });
      const theirs = patientApiOf(running.server.url, made.key);
      expect(codeOf(await theirs.get(`/ghost/${id}/status`))).toBe('GHOST_NOT_FOUND');
      expect(codeOf(await theirs.post(`/ghost/${id}/stop`))).toBe('GHOST_NOT_FOUND');
      expect(ok(await theirs.get('/ghost/history')).body).toEqual({ sessions: [] });
      await over(id);
      expect(await resultsOf(id)).not.toHaveProperty('resultsPartial');
    });
  });
};

/** Ghost sessions whose server is killed. */
export const ghostKillScenarios = (profile: string, open: OpenServer): void => {
  describe(`ghost sessions on ${profile}, after kills`, () => {
    const running = projectingServer(open);
    const { run, statusOf, over, stepsOf } = clientOf(running);

    it('continue at the next step, without losing or duplicating one [9.8i]', async () => {
      const asked = { goal: 'find_bugs', level: 'a dark place', seed: 21 };
      const undisturbed = await run(asked);
      const [wanted, wantedSteps] = [await over(undisturbed), await stepsOf(undisturbed)];
      const killed = await run(asked);
      for (const waitMs of [150, 400, 60, 250]) {
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        await running.server.restart('kill');
        running.again();
      }
      expect(comparableResults(await over(killed))).toEqual(comparableResults(wanted));
      expect(comparableSteps(await stepsOf(killed))).toEqual(comparableSteps(wantedSteps));
      expect(await statusOf(killed)).toMatchObject({ ghostStatus: 'completed', ghostTimedOut: false });
    }, 300_000);
  });
};
