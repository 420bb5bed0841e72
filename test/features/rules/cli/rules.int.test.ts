import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { typed } from '../../../cli/typed.js';

type Server = Awaited<ReturnType<typeof openEmbeddedServer>>;
type Directory = Awaited<ReturnType<typeof temporaryDirectory>>;

const tavern = {
  rulesetId: 'tavern',
  rulesetRules: [
    { drRuleId: 'ring', ruleAction: 'FORBID GIVE', ruleReason: 'It stays.', rulePriority: 5 },
    { drRuleId: 'calm', ruleAction: 'FORBID ATTACK' },
  ],
};

describe('anima rules', () => {
  let server: Server;
  let directory: Directory;
  const anima = (...words: string[]) =>
    typed(words, { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey }, cwd: directory.path });
  const save = (name: string, content: unknown) => writeFile(join(directory.path, name), JSON.stringify(content));

  beforeAll(async () => {
    server = await openEmbeddedServer();
    directory = await temporaryDirectory();
    await save('tavern.json', tavern);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  it('registers, lists, shows, compares and deletes rulesets', async () => {
    expect((await anima('rules', 'list')).stderr).toBe('No rulesets.\n');
    expect(await anima('rules', 'put', 'tavern.json')).toMatchObject({
      code: 0,
      stdout: 'Registered tavern as version 1.\n',
    });
    expect((await anima('rules', 'list')).stdout).toMatch(/^tavern +1 +2$/m);
    const one = await anima('rules', 'diff', 'tavern');
    expect([one.code, one.stderr]).toEqual([
      1,
      'tavern has only one version, so there is nothing to compare it with.\n',
    ]);
    const [ring] = tavern.rulesetRules;
    await save('next.json', {
      ...tavern,
      template: 'ChatML',
      rulesetRules: [
        { drRuleId: 'new', ruleAction: 'be kind' },
        { ...ring, ruleAction: 'FORBID GIVE, TRADE' },
      ],
    });
    expect((await anima('rules', 'put', 'next.json', '--json')).stdout).toContain('"version":2');
    const diff = [
      'template: absent -> "ChatML"',
      '- calm: {',
      '+ new: {',
      '~ ring',
      '    ruleAction: "FORBID GIVE" -> "FORBID GIVE, TRADE"',
    ];
    const changed = (await anima('rules', 'diff', 'tavern')).stdout.trimEnd().split('\n');
    expect(changed.map((line) => line.replace(/(: \{).*/, '$1'))).toEqual(diff);
    expect((await anima('rules', 'diff', 'tavern', '--from', '1', '--to', '2')).stdout.trimEnd().split('\n')).toEqual(
      changed,
    );
    const shown = await anima('rules', 'show', 'tavern', '--ruleset-version', '1');
    expect(JSON.parse(shown.stdout)).toMatchObject({ ...tavern, version: 1 });
    await writeFile(join(directory.path, 'shown.json'), shown.stdout);
    const preset = await anima('rules', 'show', 'rpg', '--ruleset-version', '0');
    expect(JSON.parse(preset.stdout)).toMatchObject({ rulesetId: 'rpg', version: 0 });
    expect((await anima('rules', 'put', 'shown.json')).stdout).toBe('Registered tavern as version 3.\n');
    expect(await anima('rules', 'diff', 'tavern', 'shown.json')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No differences.\n',
    });
    expect((await anima('rules', 'delete', 'tavern')).stdout).toBe('Deleted tavern.\n');
    expect((await anima('rules', 'show', 'tavern')).stderr).toBe(
      'The ruleset "tavern" is deleted. Its newest version was 3. (RULESET_NOT_FOUND)\n',
    );
    expect(await readFile(join(directory.path, 'shown.json'), 'utf8')).toBe(shown.stdout);
  });

  it('checks a ruleset without a server [5.13a, 5.13b, 5.13c]', async () => {
    const check = (...words: string[]) => typed(['rules', 'check', ...words], { env: {}, cwd: directory.path });
    expect(await check('tavern.json')).toMatchObject({
      code: 0,
      stdout: 'tavern.json can be registered. 2 of 2 rules judged: 0 findings, 0 warnings.\n',
    });
    const gate = { drRuleId: 'gate', ruleCondition: [['questDone', '!=true']], ruleAction: 'FORBID OPEN' };
    await save('gate.json', { rulesetId: 'gate', rulesetRules: [gate] });
    const warned = await check('gate.json');
    expect([warned.code, warned.stdout.split('\n')]).toEqual([
      0,
      [
        expect.stringMatching(/^warning: gate: While questDone is missing/),
        expect.stringMatching(/^warning: gate: The rule reads questDone, which the model may change/),
        'gate.json can be registered. 1 of 1 rule judged: 0 findings, 2 warnings.',
        '',
      ],
    ]);
    const strict = await check('gate.json', '--strict');
    expect([strict.code, strict.stdout, strict.stderr]).toEqual([1, warned.stdout, 'gate.json has warnings.\n']);
    await save('bad.json', { rulesetRules: [{ ...gate, ruleAction: 'FORBD OPEN', condition: [] }] });
    const bad = await check('bad.json');
    expect([bad.code, bad.stdout]).toEqual([1, '']);
    expect(bad.stderr).toContain(
      '  /rulesetRules/0/condition: There is no member "condition". Perhaps ruleCondition was meant.\n',
    );
    expect(bad.stderr).toMatch(/ {2}\/rulesetRules\/0\/ruleAction: .* Perhaps FORBID OPEN was meant\./);
    expect(JSON.parse((await check('bad.json', '--json')).stdout)).toMatchObject({
      code: 'RULES_INVALID',
      problems: [{}, {}],
    });
    await save('old.json', {
      rulesetId: 'old',
      grammar: 1,
      rulesetRules: [{ drRuleId: 'calm', ruleAction: 'FORBID ATTACK' }],
    });
    expect((await check('old.json')).stdout).toBe(
      'not judged: calm: The set has grammar 1.\nold.json can be registered. 0 of 1 rule judged: 0 findings, 0 warnings.\n',
    );
  });

  it('checks a ruleset with a server as without one, and stores nothing [5.13a, 5.13b, 5.13c]', async () => {
    const set = {
      rulesetId: 'lost',
      rulesetRules: [
        { drRuleId: 'floor', ruleAction: 'FORBID SELL', rulePriority: 2 },
        { drRuleId: 'fair', ruleCondition: [['facts.price', '>=10']], ruleAction: 'ALLOW SELL', rulePriority: 1 },
        { drRuleId: 'weak', ruleCondition: [['hp', '<5'], ['hp', '>10']], ruleAction: 'REQUIRE FLEE' }, // prettier-ignore
      ],
    };
    await save('lost.json', set);
    const found = await typed(['rules', 'check', 'lost.json'], { env: {}, cwd: directory.path });
    expect([found.code, found.stderr]).toEqual([1, 'lost.json has rules that cannot do what they say.\n']);
    expect(found.stdout.split('\n')).toEqual([
      expect.stringMatching(/^shadowed: fair: Whenever the rule matches, "floor" also matches/),
      expect.stringMatching(/^needs a list: weak: No single value at hp .* Perhaps \["hp","<5\|>10"\] was meant\.$/),
      'lost.json can be registered. 3 of 3 rules judged: 2 findings, 0 warnings.',
      '',
    ]);
    const { stdout } = await typed(['rules', 'check', 'lost.json', '--json'], { env: {}, cwd: directory.path });
    const ask = async (body: unknown) => {
      const answer = await fetch(`${server.url}/rules/check`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${server.ownerKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: answer.status, body: await answer.json() };
    };
    expect(await ask(set)).toEqual({ status: 200, body: JSON.parse(stdout) as unknown });
    expect(await ask({ rulesetRules: [{ rulePriority: '10' }] })).toMatchObject({
      status: 200,
      body: { code: 'SCHEMA_INVALID', problems: [{ pointer: '/rulesetRules/0/rulePriority', meant: '10' }] },
    });
    expect((await anima('rules', 'show', 'lost')).stderr).toContain('(RULESET_NOT_FOUND)');
  });

  it('compares a file as registration would read it', async () => {
    const rule = { drRuleId: 'calm', ruleObsPattern: 'fight', ruleAction: 'FORBID ATTACK' };
    await save('inn.json', { $schema: 'x', rulesetRules: [rule], rulesetId: 'inn' });
    await anima('rules', 'put', 'inn.json');
    expect(await anima('rules', 'diff', 'inn', 'inn.json')).toMatchObject({
      ...{ code: 0, stdout: '', stderr: 'No differences.\n' },
    });
    await save('next.json', { rulesetRules: [{ ...rule, rulePriority: 3, ruleReason: '' }, { drRuleId: 'x', ruleAction: 'FORBID FLEE' }] }); // prettier-ignore
    expect((await anima('rules', 'diff', 'inn', 'next.json')).stdout).toBe(
      '~ calm\n    rulePriority: absent -> 3\n+ x: {"drRuleId":"x","ruleAction":"FORBID FLEE"}\n',
    );
    await save('bad.json', { rulesetRules: [{ drRuleId: 'x', ruleAction: 'FORBD FLEE' }] });
    expect(await anima('rules', 'diff', 'inn', 'bad.json')).toMatchObject({
      code: 1,
      stderr:
        'bad.json cannot be registered (RULES_INVALID), so it cannot be compared. Try "anima rules check bad.json".\n',
    });
  });

  it('names the nearest ruleset, or the newest version, if there is no such one', async () => {
    await save('smuggler.json', { rulesetId: 'smuggler', rulesetRules: tavern.rulesetRules });
    await anima('rules', 'put', 'smuggler.json');
    const nearest = (code: string) => ({
      code: 1,
      stderr: `No ruleset "smugler" is registered. Perhaps smuggler was meant. (${code})\n`,
    });
    expect(await anima('rules', 'bind', 'sly', 'smugler')).toMatchObject(nearest('RULESET_UNKNOWN'));
    for (const words of [
      ['rules', 'show'],
      ['rules', 'diff'],
      ['rules', 'versions'],
      ['rules', 'delete'],
      ['coverage'],
    ])
      expect(await anima(...words, 'smugler')).toMatchObject(nearest('RULESET_NOT_FOUND'));
    expect(await anima('trial', 'smuggler.json', '--instead', 'smugler')).toMatchObject({
      ...{ ...nearest('RULESET_NOT_FOUND'), code: 3 },
    });
    expect((await anima('rules', 'show', 'zzz')).stderr).toBe('No ruleset "zzz" is registered. (RULESET_NOT_FOUND)\n');
    for (const words of [
      ['diff', 'smuggler', '--from', '7'],
      ['show', 'smuggler', '--ruleset-version', '7'],
    ])
      expect(await anima('rules', ...words)).toMatchObject({
        code: 1,
        stderr: 'smuggler has no version 7; its newest is 1. (RULESET_NOT_FOUND)\n',
      });
  });

  it('says which id the server made for a set without one [5.13n]', async () => {
    await save('nameless.json', { rulesetRules: [{ drRuleId: 'calm', ruleAction: 'FORBID ATTACK' }] });
    const checked = await anima('rules', 'check', 'nameless.json', '--strict');
    expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining('warning: The set has no rulesetId')]);
    const { stdout, stderr } = await anima('rules', 'put', 'nameless.json');
    const [, rulesetId = ''] = /^Registered (rs-\S+) as version 1\.\n$/.exec(stdout) ?? [];
    expect(stderr).toBe(
      `The set names no rulesetId, so the server made one. To make the next version of it, add "rulesetId": "${rulesetId}" to nameless.json.\n`,
    );
    await anima('rules', 'delete', rulesetId);
  });

  it('binds an NPC to a ruleset, and unbinds it', async () => {
    await anima('rules', 'put', 'tavern.json');
    expect(await anima('rules', 'bind', 'mira', 'tavern')).toMatchObject({
      code: 0,
      stdout: 'mira is new: it has no events yet. mira is bound to tavern.\n',
    });
    expect((await anima('rules', 'bind', 'mira', 'tavern')).stdout).toBe('mira is bound to tavern.\n');
    expect((await anima('rules', 'bind', 'mira', '--none')).stdout).toBe('mira is not bound any more.\n');
    expect((await anima('history', 'mira')).stdout).toMatch(/RulesetBound.*to "tavern"[^]*RulesetBound.*to none/);
    const unknown = await anima('rules', 'bind', 'mira', 'taverns');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('(RULESET_UNKNOWN)')]);
    for (const words of [['mira'], ['mira', 'tavern', '--none']])
      expect(await anima('rules', 'bind', ...words)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Name either a ruleset or --none.') as string,
      });
  });
});
