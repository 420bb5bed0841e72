import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Api, apiOf, codeOf } from '../../../support/api.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { typed } from '../../../cli/typed.js';

type Server = Awaited<ReturnType<typeof openEmbeddedServer>>;
type Version = {
  readonly version: number;
  readonly registeredAt: string;
  readonly digest: string;
  readonly grammar: number;
  readonly rules: number;
  readonly deletedAt?: string;
};

describe('the versions of a ruleset', () => {
  let server: Server;
  let api: Api;
  const path = '/rules/tavern/versions';
  const versions = async (query = ''): Promise<readonly Version[]> => (await api.get(path + query)).body as Version[];
  const put = (rules: number, more: object = {}) =>
    api.post('/rules', {
      ...{ rulesetId: 'tavern', ...more },
      rulesetRules: Array.from({ length: rules }, () => ({ ruleAction: 'be kind' })),
    });

  beforeAll(async () => {
    server = await openEmbeddedServer();
    api = apiOf(server.url, server.ownerKey);
    await put(1, { grammar: 1 });
    await put(2);
    await api('DELETE', '/rules/tavern');
    await put(3);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('are listed, newest first, with the digest that turns name [5.2e]', async () => {
    const all = await versions();
    expect(all.map(({ version, grammar, rules }) => [version, grammar, rules])).toEqual([
      [3, 2, 3],
      [2, 2, 2],
      [1, 1, 1],
    ]);
    expect(
      all
        .map(({ registeredAt }) => registeredAt)
        .toSorted()
        .toReversed(),
    ).toEqual(all.map(({ registeredAt }) => registeredAt));
    const asked = { observation: 'x', rulesetId: 'tavern', generatedOutput: 'y' };
    const { turnId } = (await api.post('/npcs/mira/verdict', asked)).body as { turnId: string };
    const turn = (await api.get(`/npcs/mira/turns/${turnId}`)).body as { ruleset: { digest: string } };
    expect(all[0]?.digest).toBe(turn.ruleset.digest);
    expect(new Set(all.map(({ digest }) => digest)).size).toBe(3);
  });

  it('are paged [5.2e]', async () => {
    const seen: number[] = [];
    let next = `${path}?limit=1`;
    while (next !== '') {
      const page = await api.get(next);
      seen.push(...(page.body as Version[]).map(({ version }) => version));
      next = /^<(.+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
    }
    expect(seen).toEqual([3, 2, 1]);
    for (const beyond of ['4', '0', 'x'])
      expect(codeOf(await api.get(`${path}?cursor=${Buffer.from(beyond).toString('base64url')}`))).toBe(
        'SCHEMA_INVALID',
      );
  });

  it('stay listed if the set is deleted, which the last one tells [5.2f]', async () => {
    const deleted = async () => (await versions()).map(({ deletedAt }) => deletedAt !== undefined);
    expect(await deleted()).toEqual([false, true, false]);
    await api('DELETE', '/rules/tavern');
    expect(await deleted()).toEqual([true, true, false]);
    expect((await api.get('/rules/tavern')).status).toBe(404);
    expect((await api.get('/rules/tavern?version=3')).status).toBe(200);
    expect(codeOf(await api.get('/rules/nobody/versions'))).toBe('RULESET_NOT_FOUND');
    expect(codeOf(await api.get('/rules/rpg/versions'))).toBe('RULESET_NOT_FOUND');
  });

  it('are printed, one per line [5.2e, 5.2f]', async () => {
    const env = { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey };
    const { code, stdout, stderr } = await typed(['rules', 'versions', 'tavern', '--limit', '2'], { env });
    expect([code, stderr]).toEqual([0, 'There are more: raise --limit to see them.\n']);
    expect(stdout).toMatch(
      /^VERSION +REGISTERED +GRAMMAR +RULES +DIGEST\n3 +\S+Z +2 +3 +\S{43} {2}deleted \S+Z\n2 .+ deleted \S+Z\n$/,
    );
    const lines = (await typed(['rules', 'versions', 'tavern', '--json'], { env })).stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as Version)).toEqual(await versions());
  });
});
