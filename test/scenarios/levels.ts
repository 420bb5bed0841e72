import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { contentDigest } from '../../src/kernel/crypto/content-digest.js';
import { jcs, type Json, type JsonObject } from '../../src/kernel/base/json.js';
import { codeOf, patientApiOf, type Reply } from '../support/api.js';
import { mapObject, roomMap } from '../features/levels/domain/maps.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

const digestOf = (map: Json): string => contentDigest(Buffer.from(jcs(map)));
const cellar = JSON.parse(readFileSync(new URL('../../levels/cellar.tmj', import.meta.url), 'utf8')) as JsonObject;
const first = roomMap();
const second = roomMap([mapObject('goal', 'exit', [4, 2]), mapObject('item', 'stone', [3, 1])]);

/** The life cycle of levels, as clients see it over HTTP: the same on every profile. */
export const levelScenarios = (profile: string, open: OpenServer): void => {
  describe(`levels on ${profile}`, () => {
    const running = projectingServer(open);
    let levels = 0;
    const freshId = (): string => `inn ${String(levels++)} é`;
    const pathOf = (levelId: string): string => `/levels/${encodeURIComponent(levelId)}`;
    const ok = (reply: Reply): JsonObject => {
      expect(reply.status, reply.text).toBe(200);
      return reply.body as JsonObject;
    };
    const put = (levelId: string, map: Json) => running.api('PUT', pathOf(levelId), map);
    const listed = async (query = ''): Promise<readonly JsonObject[]> =>
      ok(await running.api.get(`/levels${query}`)) as unknown as readonly JsonObject[];

    it('begin with the bundled ones, which cannot be changed [9.7b, 9.7g, 9.7l]', async () => {
      const all = await listed();
      expect(all.slice(0, 3).map(({ levelId }) => levelId)).toEqual(['cellar', 'market', 'faulty']);
      expect(all[0]).toEqual({
        levelId: 'cellar',
        version: null,
        digest: digestOf(cellar),
        name: 'The cellar',
        width: 16,
        height: 9,
        contents: { goals: 1, items: 2, doors: 1, hazards: 1, npcs: 1, triggers: 1 },
        builtIn: true,
        updatedAt: null,
      });
      expect(ok(await running.api.get('/levels/cellar'))).toEqual({ ...all[0], map: cellar });
      expect(codeOf(await running.api.get('/levels/cellar?version=1'))).toBe('LEVEL_NOT_FOUND');
      for (const reply of [await put('cellar', first), await running.api('DELETE', '/levels/cellar')])
        expect([reply.status, codeOf(reply)]).toEqual([409, 'LEVEL_BUILT_IN']);
    });

    it('get a version for each new map, and none for the existing map [9.7a, 9.7b, 9.7c, 9.7h]', async () => {
      const levelId = freshId();
      const contents = { goals: 1, items: 0, doors: 0, hazards: 0, npcs: 0, triggers: 0 };
      const one = { levelId, version: 1, digest: digestOf(first), name: levelId, width: 6, height: 4, contents };
      expect(ok(await put(levelId, first))).toEqual({ ...one, created: true, warnings: [] });
      expect(ok(await put(levelId, first))).toEqual({ ...one, created: false, warnings: [] });
      expect(ok(await put(levelId, second))).toMatchObject({
        version: 2,
        created: true,
        warnings: [{ layer: 'things', object: 'stone', problem: expect.stringContaining('no use') as string }],
      });
      const now = ok(await running.api.get(pathOf(levelId)));
      expect(now).toMatchObject({ version: 2, builtIn: false, map: second, contents: { ...contents, items: 1 } });
      expect(new Date(now['updatedAt'] as string).toISOString()).toBe(now['updatedAt']);
      expect(ok(await running.api.get(`${pathOf(levelId)}?version=1`))).toMatchObject({ ...one, map: first });
      expect(codeOf(await running.api.get(`${pathOf(levelId)}?version=3`))).toBe('LEVEL_NOT_FOUND');
      const { map: _, ...row } = now;
      expect((await listed()).filter((level) => level['levelId'] === levelId)).toEqual([row]);
    });

    it('stay readable by version when they are deleted, and keep counting versions [9.7h, 9.7i]', async () => {
      const levelId = freshId();
      ok(await put(levelId, first));
      expect(ok(await running.api('DELETE', pathOf(levelId)))).toEqual({ levelId, deleted: true });
      for (const reply of [await running.api.get(pathOf(levelId)), await running.api('DELETE', pathOf(levelId))])
        expect([reply.status, codeOf(reply)]).toEqual([404, 'LEVEL_NOT_FOUND']);
      expect((await listed()).filter((level) => level['levelId'] === levelId)).toEqual([]);
      expect(ok(await running.api.get(`${pathOf(levelId)}?version=1`))).toMatchObject({ map: first });
      expect(ok(await put(levelId, first))).toMatchObject({ version: 2, created: true });
      expect(ok(await running.api.get(`${pathOf(levelId)}?version=1`))).toMatchObject({ version: 1 });
    });

    it('are deleted with all their versions on request, once no session plays them [9.7j, 9.7k]', async () => {
      const levelId = freshId();
      ok(await put(levelId, first));
      const asked = { goal: 'find_bugs', level: levelId, seed: 1, steps: 1_000_000 };
      const { id } = (await running.api.post('/v1/ghost/run', asked)).body as { id: string };
      const all = `${pathOf(levelId)}?versions=all`;
      const playing = await running.api('DELETE', all);
      expect([playing.status, codeOf(playing)]).toEqual([409, 'GHOST_RUNNING']);
      ok(await running.api.post(`/ghost/${id}/stop`));
      await expect
        .poll(async () => ok(await running.api.get(`/ghost/${id}/results`))['resultsPartial'] ?? false, {
          timeout: 30_000,
        })
        .toBe(false);
      // The list of sessions may get the report a moment later.
      await expect
        .poll(async () => (await running.api('DELETE', all)).status, { timeout: 30_000, interval: 500 })
        .toBe(200);
      for (let again = 0; again < 2; again += 1)
        expect(ok(await running.api('DELETE', all))).toEqual({ levelId, deleted: true });
      expect(codeOf(await running.api.get(`${pathOf(levelId)}?version=1`))).toBe('LEVEL_NOT_FOUND');
      ok(await running.api.get(`/ghost/${id}/results`));
      expect(ok(await put(levelId, first))).toMatchObject({ version: 2, created: true });
    });

    it('are listed in pages, the bundled ones first [9.7g]', async () => {
      for (let count = 0; count < 3; count += 1) ok(await put(freshId(), first));
      const whole = (await listed()).map(({ levelId }) => levelId);
      const paged: unknown[] = [];
      for (let path: string | undefined = '/levels?limit=2'; path !== undefined;) {
        const reply = await running.api.get(path);
        paged.push(...(ok(reply) as unknown as readonly JsonObject[]).map(({ levelId }) => levelId));
        path = /<([^>]+)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1];
      }
      expect(paged).toEqual(whole);
      expect(whole.length).toBeGreaterThanOrEqual(6);
    });

    it('are refused with the necessary changes, and nothing is stored [1.2q, 1.6b, 9.7d, 9.7e]', async () => {
      const levelId = freshId();
      const tooLarge = { ...first, more: 'x'.repeat(2 * 1024 * 1024) };
      const noSpawn = roomMap([mapObject('spawn', 'other', [2, 2])]);
      for (const [map, problem] of [
        [noSpawn, 'second object of the class "spawn"'],
        [{}, 'not a Tiled map'],
        [{ ...first, infinite: true }, 'infinite'],
        [tooLarge, 'bytes of JSON'],
      ] as const) {
        const reply = await put(levelId, map);
        expect([reply.status, codeOf(reply)]).toEqual([422, 'LEVEL_INVALID']);
        const { problems } = (reply.body as { error: { details: { problems: readonly JsonObject[] } } }).error.details;
        expect(problems[0]?.['problem']).toContain(problem);
        expect(Object.keys(problems[0] ?? {}).toSorted()).toEqual(['layer', 'object', 'problem']);
      }
      expect(codeOf(await put(levelId, []))).toBe('SCHEMA_INVALID');
      expect(codeOf(await put('a/b', first))).toBe('ID_INVALID');
      expect((await put(levelId, { ...first, more: 'x'.repeat(16 * 1024 * 1024) })).status).toBe(413);
      expect(codeOf(await running.api.get(pathOf(levelId)))).toBe('LEVEL_NOT_FOUND');
    });

    it('belong to one studio, and need the scope ghosts [9.7m]', async () => {
      const levelId = freshId();
      ok(await put(levelId, first));
      const made = await running.api.post('/tenants', { tenantId: 'another' });
      const other = patientApiOf(running.server.url, (made.body as { key: string }).key);
      expect(codeOf(await other.get(pathOf(levelId)))).toBe('LEVEL_NOT_FOUND');
      expect(codeOf(await other.get(`${pathOf(levelId)}?version=1`))).toBe('LEVEL_NOT_FOUND');
      expect(ok(await other.get('/levels'))).toHaveLength(3);
      const { key } = (await running.api.post('/keys', { name: 'rules', scopes: ['rules'] })).body as { key: string };
      expect((await patientApiOf(running.server.url, key).get('/levels')).status).toBe(403);
    });

    it('get one version when the same map is sent many times concurrently', async () => {
      const levelId = freshId();
      const replies = await Promise.all(Array.from({ length: 6 }, () => put(levelId, second)));
      const answers = replies.map(ok);
      expect(answers.map(({ version }) => version)).toEqual([1, 1, 1, 1, 1, 1]);
      expect(answers.filter(({ created }) => created === true)).toHaveLength(1);
    });
  });

  describe(`levels on ${profile}, after kills`, () => {
    const running = projectingServer(open);

    it('are stored after kill -9 once they were answered, each version with its map', async () => {
      expect((await running.api('PUT', '/levels/inn', first)).status).toBe(200);
      expect((await running.api('PUT', '/levels/inn', second)).status).toBe(200);
      await running.server.restart('kill');
      running.again();
      expect((await running.api.get('/levels/inn')).body).toMatchObject({ version: 2, map: second });
      expect((await running.api.get('/levels/inn?version=1')).body).toMatchObject({ version: 1, map: first });
      expect((await running.api('PUT', '/levels/inn', second)).body).toMatchObject({ version: 2, created: false });
    });
  });
};
