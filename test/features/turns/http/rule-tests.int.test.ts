import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Api, apiOf, codeOf } from '../../../support/api.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';

const closed = { rulesetRules: [{ drRuleId: 'closed', ruleAction: 'FORBID SELL', ruleReason: 'We are closed.' }] };
const sells = { name: 'sells', when: { action: { type: 'SELL' } }, then: { valid: false, drRuleId: 'closed' } };
const talks = { name: 'talks', when: { output: 'Hi.' }, then: { valid: true, dialogue: 'Ho.' } };

describe('POST /rules/test', () => {
  let server: Awaited<ReturnType<typeof openEmbeddedServer>>;
  let api: Api;
  const test = (body: object) => api.post('/rules/test', body);
  const problemsOf = async (body: object): Promise<unknown> => {
    const { status, body: answer } = await test(body);
    return [status, (answer as { error: { code: string; details: { problems: unknown } } }).error];
  };

  beforeAll(async () => {
    server = await openEmbeddedServer();
    api = apiOf(server.url, server.ownerKey);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('decides cases by a set in the body, and records nothing [5.10m, 5.10n]', async () => {
    expect(await test({ ruleset: { ...closed, rulesetId: 'shop' }, cases: [sells, talks] })).toMatchObject({
      status: 200,
      body: {
        ...{ ruleset: null, passed: 1, failed: 1 },
        cases: [
          { name: 'sells', passed: true, differences: [], notes: ['Refused by closed: We are closed.'] },
          {
            name: 'talks',
            passed: false,
            differences: [{ member: 'dialogue', expected: 'Ho.', actual: 'Hi.' }],
            notes: [],
          },
        ],
      },
    });
    expect((await api.get('/rules')).body).toEqual([]);
    expect((await api.get('/npcs')).body).toEqual([]);
  });

  it('decides by a registered set, in any version, and by the default [5.10m, 5.10n]', async () => {
    const rulesetOf = async (body: object) => {
      const { status, body: report, text } = await test({ ...body, cases: [sells] });
      expect(status, text).toBe(200);
      const { ruleset, passed } = report as { ruleset: { digest: string }; passed: number };
      expect(ruleset.digest).toMatch(/^\S{43}$/);
      return [ruleset, passed];
    };
    expect(await rulesetOf({})).toMatchObject([{ rulesetId: 'default', version: 0 }, 0]);
    for (const rulesetId of ['default', 'shop']) await api.post('/rules', { ...closed, rulesetId });
    await api.post('/rules', { rulesetId: 'shop', rulesetRules: [] });
    expect(await rulesetOf({})).toMatchObject([{ rulesetId: 'default', version: 1 }, 1]);
    expect(await rulesetOf({ rulesetId: 'shop' })).toMatchObject([{ version: 2 }, 0]);
    expect(await rulesetOf({ rulesetId: 'shop', version: 1 })).toMatchObject([{ rulesetId: 'shop', version: 1 }, 1]);
    expect(codeOf(await test({ rulesetId: 'shop', version: 3, cases: [talks] }))).toBe('RULESET_NOT_FOUND');
    expect(codeOf(await test({ rulesetId: 'nobody', cases: [talks] }))).toBe('RULESET_NOT_FOUND');
    for (const mixed of [{ ruleset: closed, rulesetId: 'shop' }, { ruleset: closed, version: 1 }, { version: 1 }])
      expect(codeOf(await test({ ...mixed, cases: [talks] }))).toBe('SCHEMA_INVALID');
  });

  it('refuses what cannot be read, with the place and what was meant [5.10o]', async () => {
    expect(await problemsOf({ ruleset: closed, cases: [sells, { ...talks, expect: 1 }] })).toMatchObject([
      422,
      {
        code: 'RULE_TESTS_INVALID',
        details: { problems: [{ pointer: '/cases/1/expect', message: 'There is no member "expect".', meant: 'then' }] },
      },
    ]);
    const many = Array.from({ length: 101 }, (_, at) => ({ name: String(at) }));
    expect((await test({ ruleset: closed, cases: many })).body.error.details.problems).toHaveLength(100);
    expect(await problemsOf({ ruleset: { rulesetRules: [{ condition: [] }] }, cases: [talks] })).toMatchObject([
      422,
      { code: 'RULES_INVALID', details: { problems: [{ pointer: '/ruleset/rulesetRules/0/condition' }] } },
    ]);
    for (const [member, meant] of [
      ...['ruleSetId', 'rulesetID', 'ruleset_id', 'id', 'name'].map((name) => [name, 'rulesetId'] as const),
      ...(['ruleSet', 'rules'] as const).map((name) => [name, 'ruleset'] as const),
    ])
      expect(await problemsOf({ cases: [sells], [member]: 'shop' }), member).toMatchObject([
        422,
        { code: 'RULE_TESTS_INVALID', details: { problems: [{ pointer: `/${member}`, meant }] } },
      ]);
    expect(codeOf(await test({ ruleset: 'shop.json', cases: [talks] }))).toBe('SCHEMA_INVALID');
  });

  it('takes as much as it can decide beside other work [5.10p]', async () => {
    const cases = (count: number) => Array.from({ length: count }, (_, at) => ({ ...sells, name: String(at) }));
    expect((await test({ ruleset: closed, cases: cases(200) })).body).toMatchObject({ passed: 200, failed: 0 });
    expect(codeOf(await test({ ruleset: closed, cases: cases(201) }))).toBe('SCHEMA_INVALID');
    expect(codeOf(await test({ ruleset: closed, cases: [] }))).toBe('SCHEMA_INVALID');
    const state = { list: Array.from({ length: 10_001 }, () => 1) };
    expect(await problemsOf({ ruleset: closed, cases: [{ ...sells, given: { state } }] })).toMatchObject([
      422,
      { code: 'RULE_TESTS_INVALID', details: { problems: [{ pointer: '/cases/0' }] } },
    ]);
    const replies = await Promise.all(
      Array.from({ length: 6 }, () =>
        test({
          ruleset: { rulesetRules: slow },
          cases: cases(200).map((one) => ({ ...one, when: { ...one.when, observation } })),
        }),
      ),
    );
    const codes = replies.map((reply) => (reply.status === 200 ? 'done' : codeOf(reply)));
    expect(new Set(codes)).toEqual(new Set(['done', 'BUSY']));
    expect(codes.filter((code) => code === 'done').length).toBeLessThan(6);
  });

  it('needs the scope for rules [5.10m]', async () => {
    const { body } = await api.post('/keys', { name: 'game', scopes: ['npc'] });
    expect(codeOf(await apiOf(server.url, (body as { key: string }).key).post('/rules/test', { cases: [talks] }))).toBe(
      'FORBIDDEN',
    );
  });
});

/** Rules whose patterns search long for nothing. */
const slow = Array.from({ length: 16 }, (_, at) => ({
  ...{ drRuleId: `r${String(at)}`, ruleObsPattern: `(a|b)*c{1,${String(at + 1)}}z`, ruleAction: 'FORBID SELL' },
}));
const observation = 'ab'.repeat(1_000);
