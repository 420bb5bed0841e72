import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ServerUnderTest } from '../../../scenarios/server-under-test.js';
import { apiOf, codeOf } from '../../../support/api.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { typed } from '../../../cli/typed.js';

type Shown = { readonly kid: string; readonly current: boolean; readonly revokedSince: string | null };

describe('the signing keys of a running server', () => {
  let server: ServerUnderTest;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  beforeAll(async () => {
    server = await openEmbeddedServer();
    folder = await temporaryDirectory();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });
  const api = (key = server.ownerKey) => apiOf(server.url, key);
  const anima = (...words: readonly string[]) =>
    typed(words, { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey }, cwd: folder.path });
  const listed = async (): Promise<readonly Shown[]> =>
    (await apiOf(server.url, undefined).get('/signing-keys')).body.keys as readonly Shown[];
  const decide = async (): Promise<{ readonly verdict: Record<string, unknown>; readonly kid: string }> => {
    const decided = await api().post('/npcs/odo/verdict', { generatedOutput: '{"dialogue": "Halt!"}' });
    const { turnId: _, ...verdict } = decided.body as Record<string, unknown>;
    const [header = ''] = String(verdict['signature']).split('.');
    return { verdict, kid: (JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string }).kid };
  };
  const verified = async (verdict: Record<string, unknown>): Promise<unknown> => {
    const { valid, reason } = (
      await api().post('/verdicts/verify', { npcId: 'odo', verdict, signature: verdict['signature'] })
    ).body as { readonly valid: boolean; readonly reason?: string };
    return reason ?? valid;
  };
  const linesOf = (note: string): number => note.split('\n').filter((line) => line.startsWith('— ')).length;

  it('are changed only by the owner of the server, and listed to everyone [1.3b, 11.8a, 11.8e, 11.8i]', async () => {
    const made = (await api().post('/keys', { name: 'admin', set: 'admin' })).body as { readonly key: string };
    const tenant = (await api().post('/tenants', { tenantId: 'studio' })).body as { readonly key: string };
    const [{ kid } = { kid: '' }] = await listed();
    for (const key of [made.key, tenant.key]) {
      expect(codeOf(await api(key).post('/signing-keys/rotate'))).toBe('FORBIDDEN');
      expect(codeOf(await api(key).post(`/signing-keys/${kid}/revoke`, { reason: 'no' }))).toBe('FORBIDDEN');
    }
    expect(await listed()).toEqual([
      expect.objectContaining({ kid, alg: 'EdDSA', current: true, revokedSince: null, reason: null }),
    ]);
    const current = await api().post(`/signing-keys/${kid}/revoke`, { reason: 'no' });
    expect([current.status, codeOf(current)]).toEqual([409, 'SIGNING_KEY_CURRENT']);
    const unknown = await api().post('/signing-keys/unknown/revoke', { reason: 'no' });
    expect([unknown.status, codeOf(unknown)]).toEqual([404, 'SIGNING_KEY_NOT_FOUND']);
  });

  it('rotate and are revoked while histories, verdicts and souls stay valid [11.8a, 11.8b, 11.8c, 11.8e, 11.8j]', async () => {
    await api().post('/npcs', { npcId: 'odo', persona: 'Odo guards the gate.' });
    const early = await decide();
    expect((await anima('soul', 'export', 'odo', '--out', 'early.json')).code).toBe(0);
    expect((await anima('checkpoint', '--out', 'early.note')).code).toBe(0);

    const rotated = await anima('signing-keys', 'rotate');
    expect(rotated.code, rotated.stderr).toBe(0);
    const made = rotated.stdout.trim();
    expect((await listed()).map(({ kid, current }) => [kid, current])).toEqual([
      [early.kid, false],
      [made, true],
    ]);
    const jwks = (await api().get('/.well-known/jwks.json')).body as { readonly keys: readonly object[] };
    expect(jwks.keys.map((key) => Object.keys(key).sort())).toEqual(
      [0, 1].map(() => ['crv', 'kid', 'kty', 'use', 'x']),
    );
    const late = await decide();
    expect(late.kid).toBe(made);
    expect([await verified(early.verdict), await verified(late.verdict)]).toEqual([true, true]);
    const imported = await anima('soul', 'import', 'early.json', '--copy');
    expect(imported.code, imported.stderr).toBe(0);

    const both = JSON.parse((await anima('checkpoint', '--json')).stdout) as {
      readonly kid: string;
      readonly note: string;
    };
    expect([both.kid, linesOf(both.note)]).toEqual([made, 2]);
    expect((await anima('bundle', 'odo', '--checkpoint', 'early.note', '--out', 'odo.ndjson')).code).toBe(0);
    const followed = await anima('verify', 'odo.ndjson', '--key', early.kid, '--checkpoint', 'early.note');
    expect(followed.code, followed.stderr).toBe(0);
    expect(followed.stdout).toContain(`Also signed by the key ${made}`);
    await writeFile(join(folder.path, 'both.note'), both.note);
    expect((await anima('verify', 'odo.ndjson', '--key', made, '--checkpoint', 'both.note')).code).toBe(0);
    await decide();
    const after = JSON.parse((await anima('checkpoint', '--json')).stdout) as { readonly note: string };
    expect(linesOf(after.note)).toBe(1);
    expect((await anima('bundle', 'odo', '--checkpoint', 'early.note', '--out', 'later.ndjson')).code).toBe(0);
    const later = ['verify', 'later.ndjson', '--checkpoint', 'early.note', '--key', made];
    expect((await anima(...later)).code).toBe(1);
    expect((await anima(...later, '--key', early.kid)).code).toBe(0);
    expect((await anima('audit')).code).toBe(0);

    const future = await api().post(`/signing-keys/${early.kid}/revoke`, {
      since: '2999-01-01T00:00:00Z',
      reason: 'no',
    });
    expect([future.status, codeOf(future)]).toEqual([400, 'SCHEMA_INVALID']);
    // Everything that the key signed is from the last minutes.
    const revoked = await anima(
      'signing-keys',
      'revoke',
      '--since',
      '1h',
      '--reason',
      'A backup was copied',
      '--',
      early.kid,
    );
    expect(revoked.code, revoked.stderr).toBe(0);
    expect([await verified(early.verdict), await verified(late.verdict)]).toEqual(['revoked_key', true]);
    const refused = await anima('soul', 'import', 'early.json', '--copy');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('revoked_key')]);
    const audited = await anima('audit');
    expect([audited.code, audited.stdout + audited.stderr]).toEqual([
      1,
      expect.stringContaining('the key that signed the note was revoked as of an earlier time'),
    ]);
    expect((await anima('signing-keys', 'list')).stdout).toMatch(/revoked since .* A backup was copied\n.* signs/);

    await server.restart('stop');
    expect(await verified(early.verdict)).toBe('revoked_key');
    expect((await decide()).kid).toBe(made);
  });
});
