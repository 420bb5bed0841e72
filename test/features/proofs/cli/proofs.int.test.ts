import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ServerUnderTest } from '../../../scenarios/server-under-test.js';
import { apiOf } from '../../../support/api.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { typed } from '../../../cli/typed.js';

describe('anima audit, checkpoint, bundle and verify', () => {
  let server: ServerUnderTest;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  beforeAll(async () => {
    server = await openEmbeddedServer();
    folder = await temporaryDirectory();
    const api = apiOf(server.url, server.ownerKey);
    for (const text of ['One.', 'Two.']) await api.post('/npcs/gatekeeper/memory', { text });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });
  const anima = (...words: readonly string[]) =>
    typed(words, { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey }, cwd: folder.path });

  it('prove a history to a reader who has only files [10.5e, 10.5l, 11.5g]', async () => {
    const early = await anima('checkpoint', '--latest');
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('CHECKPOINT_NOT_FOUND')]);
    const whole = await anima('audit');
    expect([whole.code, whole.stderr]).toEqual([3, expect.stringMatching(/^No log: /)]);
    expect((await anima('checkpoint', '--out', 'kept.note')).code).toBe(0);
    const sizeOf = async (file: string) => Number((await readFile(join(folder.path, file), 'utf8')).split('\n')[1]);
    const kept = await sizeOf('kept.note');
    const logged = await anima('audit');
    expect([logged.code, logged.stderr]).toEqual([0, expect.stringMatching(/^All intact: \d+ events and the heads/)]);
    await apiOf(server.url, server.ownerKey).post('/npcs/gatekeeper/memory', { text: 'Three.' });
    const made = JSON.parse((await anima('checkpoint', '--json')).stdout) as {
      readonly kid: string;
      readonly size: number;
    };
    // Besides the mind: the tenant's keys, the server's tenants and signing keys, and the accesses of a minute that ended meanwhile.
    expect([kept, made.size - kept]).toEqual([expect.toBeOneOf([4, 5]), expect.toBeOneOf([1, 2])]);
    expect((await anima('bundle', 'gatekeeper', '--checkpoint', 'kept.note', '--out', 'b.ndjson')).code).toBe(0);

    const plain = await anima('verify', 'b.ndjson');
    expect([plain.code, plain.stderr]).toEqual([4, expect.stringMatching(/^Key not checked: /)]);
    expect(plain.stdout).toContain('Intact: 6 events of gatekeeper (tenant local), revisions 0 to 5.');
    expect(plain.stdout).toContain('Proven: the 6 events up to revision 5');
    expect(plain.stdout).toContain(`It then held ${String(made.size)} heads.`);
    expect(plain.stdout).toContain('Never proven: that the recorded events are true');
    const named = await anima('verify', 'b.ndjson', '--key', made.kid, '--checkpoint', 'kept.note');
    expect([named.code, named.stdout]).toEqual([0, expect.stringContaining(', as expected.')]);
    expect(named.stdout).toContain(`Proven: the log extends the given checkpoint of size ${String(kept)}.`);
    expect(JSON.parse((await anima('verify', 'b.ndjson', '--json')).stdout)).toMatchObject({
      valid: true,
      key: 'not checked',
      logged: { revision: 5, size: made.size, kid: made.kid, extends: null },
    });

    // One file of ANIMA_CHECKPOINT_URL serves several logs.
    const note = await readFile(join(folder.path, 'kept.note'), 'utf8');
    const foreign = note.replace(/^.*\n\d+/, 'other.example/audit/x\n99').replace(/^— \S+/m, '— other.example/audit/x');
    const handed = [note, foreign].map((one) => `${JSON.stringify({ note: one })}\n`).join('');
    await writeFile(join(folder.path, 'handed'), handed);
    expect((await anima('bundle', 'gatekeeper', '--checkpoint', 'handed', '--out', 'shared.ndjson')).code).toBe(0);
    const shared = await anima('verify', 'shared.ndjson', '--key', made.kid, '--checkpoint', 'handed');
    expect([shared.code, shared.stderr]).toEqual([0, '']);
    expect((await anima('audit', '--checkpoint', 'handed')).code).toBe(0);

    const text = await readFile(join(folder.path, 'b.ndjson'), 'utf8');
    await writeFile(join(folder.path, 'bad.ndjson'), text.replace('Two.', 'Six.'));
    const bad = await anima('verify', 'bad.ndjson');
    expect([bad.code, bad.stderr.trim()]).toEqual([
      1,
      expect.stringMatching(
        /^The bundle is invalid at line \d+ \(revision \d\): its content does not match its hash\.$/,
      ),
    ]);
    const other = await anima('verify', 'b.ndjson', '--key', 'A'.repeat(43));
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringMatching(/^The key is wrong: .* is signed by the key/),
    ]);
    const { keys } = (await apiOf(server.url, server.ownerKey).get('/.well-known/jwks.json')).body as {
      readonly keys: readonly { readonly kid: string; readonly x: string }[];
    };
    const own = keys.find(({ kid }) => kid === made.kid);
    await writeFile(join(folder.path, 'own.jwk'), JSON.stringify(own));
    expect(await anima('verify', 'b.ndjson', '--key', 'own.jwk')).toMatchObject({
      ...{ code: 0, stdout: expect.stringContaining(', as expected.') as string },
    });
    await writeFile(join(folder.path, 'other.jwk'), JSON.stringify({ ...own, kid: undefined, x: 'A'.repeat(43) }));
    expect((await anima('verify', 'b.ndjson', '--key', 'other.jwk')).code).toBe(1);
    const cut = (await readFile(join(folder.path, 'kept.note'), 'utf8')).replace(`\n${String(kept)}\n`, '\n9\n');
    await writeFile(join(folder.path, 'larger.note'), cut);
    const shorter = await anima('bundle', 'gatekeeper', '--checkpoint', 'larger.note');
    expect([shorter.code, shorter.stderr]).toEqual([
      1,
      expect.stringContaining(
        `A log of size ${String(made.size)} cannot extend one of size 9. If it is the latest one of this server, the log was truncated`,
      ),
    ]);
    expect((await anima('checkpoint', '--latest', '--out', 'latest.note')).code).toBe(0);
    const same = await anima('verify', 'b.ndjson', '--any-key', '--checkpoint', 'latest.note');
    expect([same.code, same.stderr]).toEqual([0, '']);
    const latest = await readFile(join(folder.path, 'latest.note'), 'utf8');
    const fork = latest.replace(/(?<=^.+\n\d+\n).+(?=\n)/, `${'A'.repeat(43)}=`);
    expect(fork).not.toBe(latest);
    await writeFile(join(folder.path, 'fork.note'), fork);
    const forked = await anima('verify', 'b.ndjson', '--checkpoint', 'fork.note');
    expect([forked.code, forked.stderr]).toEqual([
      1,
      expect.stringMatching(/^The bundle does not fit the kept checkpoint: the kept checkpoint is not signed/),
    ]);
    expect((await anima('bundle', 'gatekeeper', '--out', 'plain.ndjson')).code).toBe(0);
    const unproven = await anima('verify', 'plain.ndjson', '--checkpoint', 'kept.note');
    expect([unproven.code, unproven.stderr]).toEqual([
      1,
      expect.stringContaining(`the bundle does not prove that it extends size ${String(kept)}`),
    ]);
    const notOne = await anima('verify', 'b.ndjson', '--checkpoint', 'b.ndjson');
    expect([notOne.code, notOne.stderr]).toEqual([1, expect.stringMatching(/^b\.ndjson is not a checkpoint\./)]);
    expect((await anima('bundle', 'nobody')).stderr).toContain('NPC_NOT_FOUND');
    expect((await anima('verify', 'missing.ndjson')).stderr).toContain('cannot be read');
    // A pipe cannot be checked before its end.
    expect((await anima('verify', '/dev/null')).stderr).toContain('is not a regular file');
  });

  it('report one proven event in the singular', async () => {
    await apiOf(server.url, server.ownerKey).post('/npcs', { npcId: 'newborn', persona: 'New here.', data: {} });
    expect((await anima('checkpoint')).code).toBe(0);
    expect((await anima('bundle', 'newborn', '--out', 'one.ndjson')).code).toBe(0);
    const { stdout } = await anima('verify', 'one.ndjson', '--any-key');
    expect(stdout).toContain('Proven: the 1 event up to revision 0 was in the log');
  });
});
