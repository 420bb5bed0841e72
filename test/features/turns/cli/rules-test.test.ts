import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { typed } from '../../../cli/typed.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const set = { rulesetRules: [{ drRuleId: 'closed', ruleAction: 'FORBID SELL', ruleReason: 'We are closed.' }] };
const PASSES = `ruleset: set.json
cases:
  - name: sells nothing
    when: { action: { type: SELL } }
    then: { valid: false, drRuleId: closed }
  - name: talks
    when: { output: Good day. }
    then: { valid: true, action: { type: SPEAK }, dialogue: Good day. }
`;
const FAILS = JSON.stringify({
  ruleset: set,
  cases: [{ name: 'sells', when: { action: { type: 'SELL' }, stateDelta: { gold: 1 } }, then: { valid: true } }],
});
const WHY =
  'valid expected true, was false (Refused by closed: We are closed. Not allowed to change gold: Only the game changes it.)';

describe('anima rules test', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  const anima = (...words: string[]) => typed(['rules', 'test', ...words], { cwd: directory.path });
  const save = (name: string, content: string) => writeFile(join(directory.path, name), content);

  beforeAll(async () => {
    directory = await temporaryDirectory();
    await save('set.json', JSON.stringify(set));
    await save('passes.yaml', PASSES);
    await save('fails.json', FAILS);
    await save('bad-set.json', JSON.stringify({ rulesetRules: [{ condition: [] }] }));
    await save('bad.yaml', PASSES.replace('set.json', 'bad-set.json'));
    await save('lost.yaml', PASSES.replace('set.json', 'nowhere.json'));
    await save('typo.yaml', PASSES.replace('then:', 'than:'));
    await save('broken.yaml', 'ruleset: [');
    await save('set.yaml', 'rulesetRules: []\n');
    await save('other-kind.yaml', PASSES.replace('set.json', 'passes.yaml'));
    await save('yaml-set.yaml', PASSES.replace('set.json', 'set.yaml'));
    await save('empty.yml', 'ruleset: set.json\ncases: []\n');
  });
  afterAll(() => directory[Symbol.asyncDispose]());

  it('prints a line for each case without a server, and succeeds if all passed [5.10a, 5.10c, 5.10h, 5.10k]', async () => {
    expect(await anima('passes.yaml')).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: 'passes.yaml:\npassed  sells nothing\npassed  talks\n2 passed, 0 failed\n',
    });
  });

  it('shows what was expected and what came, and fails [5.10h, 5.10k]', async () => {
    expect(await anima('fails.json', 'passes.yaml')).toEqual({
      ...{ code: 1, stderr: '1 case failed.\n' },
      stdout: `fails.json:\nFAILED  sells: ${WHY}\npasses.yaml:\npassed  sells nothing\npassed  talks\n2 passed, 1 failed\n`,
    });
  });

  it.each([
    [
      'bad.yaml',
      /\ninvalid bad-set\.json: .+\ninvalid \/rulesetRules\/0\/condition: .+ Perhaps ruleCondition was meant\.\n/,
    ],
    ['lost.yaml', /\ninvalid .*nowhere\.json does not exist\.\n/],
    ['typo.yaml', /\ninvalid \/cases\/0\/than: There is no member "than"\. Perhaps then was meant\.\n/],
    ['set.json', /\ninvalid This is a ruleset, which "anima rules check" and "anima rules put" take\. .+\n/],
    ['other-kind.yaml', /\ninvalid passes\.yaml is a file of tests, which "anima rules test" takes\. .+\n/],
    ['yaml-set.yaml', /\ninvalid set\.yaml is YAML, but rulesets are JSON\. .+\n/],
    ['broken.yaml', /\ninvalid broken\.yaml is not valid YAML\. .+\.\n/],
  ])('fails if a file or its ruleset is invalid: %s [5.10c, 5.10d, 5.10k, 5.10l]', async (file, shown) => {
    const { code, stdout, stderr } = await anima(file);
    expect([code, stderr]).toEqual([1, '1 file is invalid.\n']);
    expect(stdout).toMatch(shown);
  });

  it.each(['check', 'put', 'diff tavern'])(
    'says of a file of tests which command takes it: %s [5.10l]',
    async (command) => {
      const given = (file: string) => typed(['rules', ...command.split(' '), file], { cwd: directory.path });
      for (const file of ['passes.yaml', 'fails.json'])
        expect(await given(file)).toMatchObject({
          ...{
            code: 1,
            stderr: `${file} is a file of tests, which "anima rules test" takes. Give its ruleset here.\n`,
          },
        });
      expect((await given('set.yaml')).stderr).toBe(
        'set.yaml is YAML, but rulesets are JSON. Save it as JSON, under a name that ends in ".json".\n',
      );
    },
  );

  it('tells that nothing was tested, and what is wrong usage [5.10k]', async () => {
    expect((await anima('empty.yml')).code).toBe(3);
    expect(await anima('passes.yaml', 'nowhere.yaml')).toEqual({
      ...{ code: 3, stdout: '', stderr: 'nowhere.yaml does not exist.\n' },
    });
    expect((await anima()).code).toBe(2);
    expect((await anima('passes.yaml', '--nope')).code).toBe(2);
  });

  it('prints the warnings of the set before the cases [5.10h, 5.10j]', async () => {
    const rule = { drRuleId: 'minor', ruleCondition: [['hp', '>=5,<18']], ruleAction: 'FORBID SELL' };
    const when = { action: { type: 'SELL' } };
    const cases = [{ name: 'sells', when, then: { valid: true } }];
    await save('old.json', JSON.stringify({ ruleset: { grammar: 1, rulesetRules: [rule] }, cases }));
    const { code, stdout } = await anima('old.json');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^old\.json:\nwarning minor: Grammar 2 refuses .+\npassed {2}sells\n/),
    ]);
    expect(JSON.parse((await anima('old.json', '--json')).stdout)).toMatchObject({
      files: [{ warnings: [{ drRuleId: 'minor' }] }],
    });
  });

  it('writes JUnit XML [5.10i]', async () => {
    expect((await anima('passes.yaml', 'fails.json', 'typo.yaml', '--junit', 'rules.xml')).code).toBe(1);
    const xml = await readFile(join(directory.path, 'rules.xml'), 'utf8');
    expect(xml).toMatch(
      /^<\?xml .*\n<testsuites>\n<testsuite name="rules passes\.yaml" tests="2" failures="0" errors="0" /,
    );
    expect(xml).toContain(`<testcase classname="rules fails.json" name="sells"><failure message="${WHY}"/></testcase>`);
    expect(xml).toContain('<testcase classname="rules typo.yaml" name="file"><error message="/cases/0/than: ');
  });

  it('prints one line of JSON [5.10j]', async () => {
    const { code, stdout } = await anima('fails.json', 'typo.yaml', '--json');
    expect(code).toBe(1);
    expect(stdout.split('\n')).toHaveLength(2);
    expect(JSON.parse(stdout)).toEqual({
      ...{ passed: 0, failed: 1, invalid: 1 },
      files: [
        {
          ...{ file: 'fails.json', problems: [], warnings: [], duration: expect.any(Number) },
          cases: [
            {
              ...{ name: 'sells', passed: false, differences: [{ member: 'valid', expected: true, actual: false }] },
              notes: ['Refused by closed: We are closed.', 'Not allowed to change gold: Only the game changes it.'],
            },
          ],
        },
        {
          ...{ file: 'typo.yaml', cases: [], warnings: [], duration: expect.any(Number) },
          problems: expect.arrayContaining([
            { pointer: '/cases/0/than', message: 'There is no member "than".', meant: 'then' },
          ]),
        },
      ],
    });
  });
});
