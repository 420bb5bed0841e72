import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { describe, expect, it, vi } from 'vitest';

import { readCheckpoint } from '../../src/features/proofs/domain/checkpoint.js';
import { fromHex } from '../../src/features/proofs/domain/edge.js';
import { leafHash } from '../../src/features/proofs/domain/leaf.js';
import { signersOf } from '../../src/features/proofs/domain/note.js';
import { isConsistent } from '../../src/features/proofs/domain/proofs.js';
import { isIncluded } from '../../src/kernel/crypto/merkle.js';
import { verifyBundleFile } from '../../src/features/proofs/cli/bundle-file.js';
import { jcs, type Json, type JsonObject } from '../../src/kernel/base/json.js';
import { type Api, codeOf, patientApiOf, type Reply } from '../support/api.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

type Shown = {
  readonly size: number;
  readonly root: string;
  readonly note: string;
  readonly kid: string;
  readonly leaves: number;
};
type Shape = {
  readonly size: number;
  readonly leaf: never;
  readonly index: number;
  readonly path: readonly string[];
  readonly note: string;
};

/** Verifiable histories over HTTP: the same on every profile. */
export const proofScenarios = (profile: string, open: OpenServer): void => {
  describe(`proofs on ${profile}`, () => {
    const running = projectingServer(open);
    const ok = (reply: Reply): Reply => {
      expect(reply.status, reply.text).toBe(200);
      return reply;
    };
    /** A new checkpoint, as lists show it. */
    const make = async (): Promise<Shown> => {
      const { handedOn, ...made } = ok(await running.api.post('/audit/checkpoints', {})).body as Shown & {
        readonly handedOn: null;
      };
      expect(handedOn).toBeNull();
      return made;
    };
    /** Two events each. */
    const remember = async (npcId: string, text: string): Promise<void> =>
      void ok(await running.api.post(`/npcs/${npcId}/memory`, { text }));
    const fileOf = async (text: string): Promise<string> => {
      const file = join(await mkdtemp(join(tmpdir(), 'anima-bundle-')), 'bundle.ndjson');
      await writeFile(file, text);
      return file;
    };

    it('come from a log that grows by every write, and by nothing else [10.5b, 10.5c, 10.5e, 10.5f, 10.5g, 10.5h, 10.5m]', async () => {
      for (let mind = 0; mind < 5; mind += 1) await remember(`proven-${String(mind)}`, 'It begins.');
      const first = await make();
      expect(first.leaves).toBeGreaterThanOrEqual(5);
      expect(await make()).toEqual(first);
      for (const mind of [1, 3]) await remember(`proven-${String(mind)}`, 'It goes on.');
      await remember('proven-3', 'And on.');
      const second = await make();
      // The accesses of a minute that ended meanwhile are logged with them.
      expect([second.size - first.size, second.leaves]).toEqual([second.leaves, expect.toBeOneOf([2, 3])]);

      const { keys } = ok(await running.api.get('/.well-known/jwks.json')).body as {
        keys: { x: string; kid: string }[];
      };
      const read = readCheckpoint(second.note);
      if (read === null) throw new Error('the note is none');
      expect(signersOf(read.note, read.checkpoint.origin, keys)[0]?.kid).toBe(second.kid);
      const latest = await running.api.get('/audit/checkpoints/latest', { accept: 'text/plain' });
      expect([latest.headers.get('content-type'), latest.text]).toEqual(['text/plain; charset=utf-8', second.note]);
      const listed = ok(await running.api.get('/audit/checkpoints?limit=1'));
      expect(listed.body).toEqual([second]);
      const next = /<([^>]*)>/.exec(listed.headers.get('link') ?? '')?.[1] ?? '';
      expect(ok(await running.api.get(next)).body).toEqual([first]);

      const between = ok(
        await running.api.get(`/audit/checkpoints/${String(second.size)}/consistency?from=${String(first.size)}`),
      ).body as { path: readonly string[] };
      const trees = {
        earlier: first.size,
        earlierRoot: fromHex(first.root),
        size: second.size,
        root: fromHex(second.root),
        path: between.path.map(fromHex),
      };
      expect(isConsistent(trees)).toBe(true);
      expect(isConsistent({ ...trees, earlierRoot: fromHex(second.root) })).toBe(false);

      const proven = async (query: string): Promise<Shape> =>
        ok(await running.api.get(`/npcs/proven-3/audit/proof${query}`)).body as Shape;
      for (const [query, revision, root] of [
        ['', 5, second.root],
        ['?revision=4', 1, second.root],
        [`?size=${String(first.size)}`, 1, first.root],
      ] as const) {
        const { leaf, index: place, size: leaves, path } = await proven(query);
        expect(leaf).toMatchObject({ stream: 'npc-local.proven-3', revision });
        const inclusion = { leaf: leafHash(leaf), place, leaves, path: path.map(fromHex) };
        expect(isIncluded(inclusion, fromHex(root))).toBe(true);
      }
      await remember('unproven', 'Later.');
      const none = await running.api.get('/npcs/unproven/audit/proof');
      expect([none.status, codeOf(none)]).toEqual([404, 'PROOF_NOT_FOUND']);
      const strange = await running.api.get('/audit/checkpoints/1000000/consistency?from=1');
      expect([strange.status, codeOf(strange)]).toEqual([404, 'CHECKPOINT_NOT_FOUND']);
      expect(ok(await running.api.post('/audit/verify', {})).body).toMatchObject({ valid: true, broken: [] });
      expect(ok(await running.api.post('/audit/verify', { npcIds: ['proven-3', 'nobody'] })).body).toMatchObject({
        valid: false,
        broken: [{ npcId: 'nobody', revision: 0, reason: 'no such NPC exists' }],
      });
      const many = Array.from({ length: 1_001 }, (_, at) => `n${String(at)}`);
      expect(codeOf(await running.api.post('/audit/verify', { npcIds: many }))).toBe('SCHEMA_INVALID');
      expect((await running.api.post('/audit/verify', { npcIds: many.slice(1) })).status).toBe(200);
    });

    it('are exported in bundles that are verified without the server [10.5j, 10.5k, 10.5l]', async () => {
      await remember('bundled', 'One.');
      await remember('bundled', 'Two.');
      const kept = await make();
      await remember('bundled', 'Three.');
      await remember('other', 'Something.');
      await make();
      await remember('bundled', 'Four.');
      const bundle = ok(await running.api.get(`/npcs/bundled/history/bundle?extends=${String(kept.size)}`));
      expect(bundle.headers.get('content-type')).toBe('application/x-ndjson');
      expect(bundle.headers.get('content-disposition')).toMatch(/^attachment; filename="/);
      expect(bundle.headers.get('content-length')).toBeNull();
      const lines = bundle.text.trimEnd().split('\n');
      for (const line of lines) expect(jcs(JSON.parse(line) as Json)).toBe(line);
      const [header, ...rest] = lines.map((line) => JSON.parse(line) as JsonObject);
      expect(header).toMatchObject({
        ...{ tenant: 'local', npcId: 'bundled', stream: 'npc-local.bundled', from: 0, to: 7 },
        keys: expect.arrayContaining([expect.objectContaining({ kid: kept.kid })]) as object[],
      });
      expect(rest.slice(0, -1).map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      const file = await fileOf(bundle.text);
      const whole = await verifyBundleFile(file, { kept: () => kept.note, keys: [{ kid: kept.kid }] });
      expect(whole.last.revision).toBe(7);
      expect(whole.logged).toMatchObject({ kid: kept.kid, extendsSize: kept.size, leaf: { revision: 5 } });
      const part = ok(await running.api.get('/npcs/bundled/history/bundle?from=1&to=4'));
      expect((await verifyBundleFile(await fileOf(part.text), {})).logged).toMatchObject({ leaf: { revision: 3 } });
      const late = ok(await running.api.get('/npcs/bundled/history/bundle?from=6'));
      expect((await verifyBundleFile(await fileOf(late.text), {})).logged).toBeNull();
      expect(JSON.parse(late.text.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ proof: null });
      await expect(verifyBundleFile(await fileOf(bundle.text.slice(0, -1)), {})).rejects.toThrow('is truncated');
      expect(await readFile(file, 'utf8')).toBe(bundle.text);
    });
  });
};

/** How long after the request for a checkpoint the server is killed, in milliseconds: before, between and after the appends of its round. */
const KILLED_AFTER_MS = [0, 2, 4, 6, 8, 11, 14, 18, 25, 60];

/** `kill -9` at every step of a round of the log. */
export const proofKillScenarios = (profile: string, open: OpenServer): void => {
  describe(`kill -9 within a round of the log on ${profile}`, () => {
    it('leaves a log with each head once, in which each checkpoint extends the last and each was published [10.5d, 10.5i]', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'anima-checkpoints-'));
      const file = join(folder, 'handed-on');
      await using server = await open({ ANIMA_CHECKPOINT_URL: pathToFileURL(file).href });
      const api = (): Api => patientApiOf(server.url, server.ownerKey);
      let made: Shown | null = null;
      let before = 0;
      for (const [round, ms] of KILLED_AFTER_MS.entries()) {
        const stored = await api().post(`/npcs/kill-${String(round)}/memory`, { text: 'It begins.' });
        expect(stored.status, stored.text).toBe(200);
        const asked = api()
          .post('/audit/checkpoints', {})
          .catch(() => null);
        await sleep(ms);
        await server.restart('kill');
        await asked;
        await vi.waitFor(
          async () => {
            const again = await api().post('/audit/checkpoints', {});
            expect(again.status, again.text).toBe(200);
            made = again.body as Shown;
          },
          { timeout: 60_000, interval: 100 },
        );
        const { size, leaves } = made as unknown as Shown;
        expect(size - before).toBe(leaves);
        // The mind, and the accesses of a minute that ended. The first round also logs what a new server has.
        if (round > 0) expect([1, 2]).toContain(leaves);
        before = size;
      }
      const listed = (await api().get('/audit/checkpoints')).body as readonly Shown[];
      expect(listed).toHaveLength(KILLED_AFTER_MS.length);
      const handed = (await readFile(file, 'utf8')).trimEnd().split('\n');
      const notes = handed.map((line) => (JSON.parse(line) as Shown).note);
      expect(new Set(notes)).toEqual(new Set(listed.map(({ note }) => note)));
      expect((await api().post('/audit/verify', {})).body).toMatchObject({ valid: true, broken: [] });
      for (const { size } of listed) {
        const path = await api().get(`/audit/checkpoints/${String(before)}/consistency?from=${String(size)}`);
        expect(path.status, path.text).toBe(200);
      }
    }, 300_000);
  });
};
