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
      'template: null -> "ChatML"',
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
    expect((await anima('rules', 'show', 'tavern')).stderr).toContain('(RULESET_NOT_FOUND)');
    expect(await readFile(join(directory.path, 'shown.json'), 'utf8')).toBe(shown.stdout);
  });

  it('checks a ruleset without a server', async () => {
    const check = (...words: string[]) => typed(['rules', 'check', ...words], { env: {}, cwd: directory.path });
    expect(await check('tavern.json')).toMatchObject({
      code: 0,
      stdout: 'tavern.json can be registered, with 0 warnings.\n',
    });
    const gate = { drRuleId: 'gate', ruleCondition: [['questDone', '!=true']], ruleAction: 'FORBID OPEN' };
    await save('gate.json', { rulesetRules: [gate] });
    const warned = await check('gate.json');
    expect([warned.code, warned.stdout.split('\n')]).toEqual([
      0,
      [
        expect.stringMatching(/^warning: gate: While questDone is missing/),
        expect.stringMatching(/^warning: gate: The rule reads questDone, which the model may change/),
        'gate.json can be registered, with 2 warnings.',
        '',
      ],
    ]);
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
  });

  it('binds an NPC to a ruleset, and unbinds it', async () => {
    await anima('rules', 'put', 'tavern.json');
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
