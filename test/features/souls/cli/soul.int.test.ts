import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ServerUnderTest } from '../../../scenarios/server-under-test.js';
import { apiOf } from '../../../support/api.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { typed } from '../../../cli/typed.js';

describe('anima soul', () => {
  let server: ServerUnderTest;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  const inFolder = (name: string): string => join(folder.path, name);
  const soul = (...words: string[]) =>
    typed(['soul', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey } });
  /** Without a server, and without a key. */
  const offline = (...words: string[]) => typed(['soul', ...words], { env: { ANIMA_URL: 'http://127.0.0.1:9' } });

  beforeAll(async () => {
    folder = await temporaryDirectory();
    server = await openEmbeddedServer();
    const api = apiOf(server.url, server.ownerKey);
    await api.post('/npcs', { npcId: 'mira', persona: 'Mira keeps the inn.', data: { mood: 'loyal', coins: 4 } });
    for (const text of ['The first.', 'The second.', 'The third.']) await api.post('/npcs/mira/memory', { text });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  it('writes a soul in both forms, and verifies each without a server [11.5g]', async () => {
    for (const [name, ...form] of [['mira.json'], ['mira.cbor', '--cbor']] as const) {
      const written = await soul('export', 'mira', '--out', inFolder(name), ...form);
      expect(written.code, written.stderr).toBe(0);
      const { code, stdout } = await offline('verify', inFolder(name));
      expect([code, stdout]).toEqual([0, expect.stringMatching(/ is intact: soul s\S+ of mira, signed by key \S+/)]);
    }
    expect((await readFile(inFolder('mira.cbor')))[0]).not.toBe('{'.charCodeAt(0));
    const { stdout } = await offline('verify', inFolder('mira.json'), '--json');
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, npcId: 'mira', issuer: server.url });
  });

  it('imports a soul from a file into a server, as a copy or as itself [8.4b]', async () => {
    await soul('export', 'mira', '--out', inFolder('moving.cbor'), '--cbor');
    const copied = await soul('import', inFolder('moving.cbor'));
    expect(copied.code, copied.stderr).toBe(0);
    expect(copied.stdout).toMatch(/^Imported \S+ as mira-copy-[0-9a-f]{8} \(a copy\), signed by this server\.$/m);
    await using other = await openEmbeddedServer();
    const there = (...words: string[]) =>
      typed(['soul', ...words], { env: { ANIMA_URL: other.url, ANIMA_API_KEY: other.ownerKey } });
    const came = await there('import', inFolder('moving.cbor'), '--json');
    expect(JSON.parse(came.stdout)).toMatchObject({ npcId: 'mira', copy: false, signer: 'unknown' });
    const again = await there('import', inFolder('moving.cbor'));
    expect(again, again.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/ was already imported as mira at /),
    });
    const line = (await there('import', inFolder('moving.cbor'), '--json')).stdout;
    expect(JSON.parse(line)).toMatchObject({ npcId: 'mira', origin: { importedAt: expect.any(String) } });
    await soul('export', 'mira', '--out', inFolder('later.json'));
    const later = await there('import', inFolder('later.json'));
    expect(later).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^[^"]*Pass --copy[^"]* \(SOUL_ALREADY_LIVE\)\n$/),
    });
    expect((await there('import', inFolder('moving.cbor'), '--copy')).stdout).toMatch(/signed by an unknown key/);
    const api = apiOf(other.url, other.ownerKey);
    const memories = (await api.get('/npcs/mira/memory')).body as readonly {
      readonly id: string;
      readonly text: string;
    }[];
    const lineage = await typed(['lineage', 'mira', memories[0]?.id ?? ''], {
      env: { ANIMA_URL: other.url, ANIMA_API_KEY: other.ownerKey },
    });
    expect(lineage.stdout).toMatch(/imported with soul s\S+, first stored there at revision 1/);
    expect(memories.map(({ text }) => text)).toEqual(['The first.', 'The second.', 'The third.']);
  });

  it('warns of an import whose rules are not registered there', async () => {
    const api = apiOf(server.url, server.ownerKey);
    await api.post('/rules', { rulesetId: 'tavern', rulesetRules: [] });
    await api.post('/npcs', { npcId: 'bound', persona: 'Bound.', rulesetId: 'tavern' });
    await soul('export', 'bound', '--out', inFolder('bound.json'));
    await using other = await openEmbeddedServer();
    const there = (...words: string[]) =>
      typed(['soul', 'import', inFolder('bound.json'), ...words], {
        env: { ANIMA_URL: other.url, ANIMA_API_KEY: other.ownerKey },
      });
    const came = await there();
    expect([came.code, came.stderr]).toEqual([
      0,
      'warning: bound is bound to the ruleset tavern, which is not registered here. Until it is, the tenant\'s ruleset "default" decides, or without one the built-in preset "default".\n',
    ]);
    const rules = apiOf(other.url, other.ownerKey);
    await rules.post('/rules', { rulesetId: 'tavern', rulesetRules: [] });
    expect((await there('--copy')).stderr).toBe('');
  });

  it('shows the content of a soul, with the newest of many memories [11.5g]', async () => {
    await soul('export', 'mira', '--out', inFolder('shown.json'));
    const { code, stdout } = await offline('inspect', inFolder('shown.json'), '--memories', '2');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^mira, soul s\S+ of \S+: intact, signed by key \S+$/m);
    for (const shown of [
      'Mira keeps the inn.',
      'mood: loyal',
      'coins: 4',
      'memories: 3',
      '1 older memory not shown',
      'The third.',
    ])
      expect(stdout).toContain(shown);
    expect(stdout).not.toContain('The first.');
    expect(stdout).not.toContain('fear');
  });

  it('shows an NPC without persona or state as such', async () => {
    await apiOf(server.url, server.ownerKey).post('/npcs/nobody/memory', { text: 'A door.' });
    await soul('export', 'nobody', '--out', inFolder('nobody.json'));
    const { stdout } = await offline('inspect', inFolder('nobody.json'));
    expect(stdout).toMatch(/persona\n.* none\n.* state\n.* none\n/);
  });

  it('prints a soul if no file is given, and leaves out the memories on request', async () => {
    const { code, stdout } = await soul('export', 'mira', '--no-memories');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ npcId: 'mira', memories: [] });
    const without = await soul('export', '--without', 'players', 'mira');
    expect(JSON.parse(without.stdout)).toMatchObject({ npcId: 'mira', without: ['players'] });
    await writeFile(inFolder('without.json'), without.stdout);
    expect((await offline('inspect', inFolder('without.json'))).stdout).toContain('left out: players');
    expect(JSON.parse(stdout)).not.toHaveProperty('without');
    expect(await soul('export', 'mira', '--without', 'memories')).toMatchObject({ code: 2 });
    expect(await soul('export', 'mira', '--cbor')).toMatchObject({ code: 2, stderr: expect.stringContaining('--out') });
  });

  it('explains what is wrong with a changed soul, and with a file that is not a soul', async () => {
    await soul('export', 'mira', '--out', inFolder('good.json'));
    const good = await readFile(inFolder('good.json'), 'utf8');
    const files = {
      'changed.json': [good.replace('The second.', 'The 2nd one.'), /wrong_root/],
      'cut.json': [good.slice(0, -9), /neither JSON nor the binary form/],
      'empty.json': ['', /neither JSON nor the binary form/],
      'other.json': ['{"id": 7}', /malformed/],
      'doubled.json': [`{"persona": "Somebody else.", ${good.slice(1)}`, /neither JSON nor the binary form/],
      'bytes.json': [Buffer.from(good.replace('Mira', '\u00e9'), 'latin1'), /neither JSON nor the binary form/],
      'bomb.json': [`{"id": [${'[],'.repeat(500_000)}0]}`, /neither JSON nor the binary form/],
    } as const;
    for (const [name, [text, reason]] of Object.entries(files)) {
      await writeFile(inFolder(name), text);
      for (const verb of ['verify', 'inspect'])
        expect(await offline(verb, inFolder(name))).toMatchObject({ code: 1, stderr: expect.stringMatching(reason) });
    }
    const cards = {
      'card.json': '{"spec": "chara_card_v2", "data": {"name": "Mira"}}',
      'card.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    };
    for (const [name, content] of Object.entries(cards)) {
      await writeFile(inFolder(name), content);
      const hint = `is a character card, not a soul. Import it with "anima card import <npcId> ${inFolder(name)}".`;
      expect(await soul('import', inFolder(name))).toMatchObject({ code: 1, stderr: expect.stringContaining(hint) });
    }
    const absent = await offline('verify', inFolder('nowhere.json'));
    expect(absent).toMatchObject({ code: 1, stderr: expect.stringContaining('does not exist') });
  });
});
