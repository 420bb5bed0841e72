import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readJsonOrYaml } from '../../../../src/cli/shared/files.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { apiOf } from '../../../support/api.js';
import { typed } from '../../../cli/typed.js';

type Server = Awaited<ReturnType<typeof openEmbeddedServer>>;
type Directory = Awaited<ReturnType<typeof temporaryDirectory>>;
type Case = {
  readonly name: string;
  readonly given?: Record<string, object>;
  readonly when: object;
  readonly then: { readonly valid: boolean; readonly [member: string]: unknown };
};
type Tests = { readonly ruleset: unknown; readonly cases: readonly Case[] };

const guard = {
  rulesetId: 'guard',
  ruleRefusal: 'Move along.',
  ruleState: [{ path: 'mood', writer: 'model' }],
  rulesetRules: [
    {
      ...{ drRuleId: 'attacked', ruleCondition: [['facts.attacked', 'true']], ruleAction: 'REQUIRE ATTACK' },
      ...{ ruleTarget: 'player', ruleOnBreak: 'replace', ruleRefusal: 'To arms!', rulePriority: 9 },
    },
    { drRuleId: 'ring', ruleObsPattern: 'ring', ruleAction: 'FORBID GIVE', ruleReason: 'It stays: "always".' },
    { drRuleId: 'night', ruleCondition: [['context.hour', '>=22']], ruleAction: 'FORBID SELL', ruleReason: 'Closed.' },
    { drRuleId: 'drunk', ruleCondition: [['drunk', 'true']], ruleAction: 'FORBID SELL', ruleReason: 'Sober up.' },
  ],
};
/** Characters that neither a terminal nor YAML takes as they are. */
const ODD = 'a\u200bb \u001b[2J: yes\n  - #c\ttab "quoted"\u2028 *x';

describe('anima rules record', () => {
  let server: Server;
  let directory: Directory;
  const anima = (...words: string[]) =>
    typed(['rules', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey }, cwd: directory.path });
  const save = (name: string, content: unknown) =>
    writeFile(join(directory.path, name), typeof content === 'string' ? content : JSON.stringify(content));
  const read = (name: string) => readFile(join(directory.path, name), 'utf8');
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const reply = await apiOf(server.url, server.ownerKey).post(path, body);
    expect(reply.status, reply.text).toBe(200);
    return reply.body as Record<string, unknown>;
  };
  /** The id of a turn with one decision. */
  const decide = async (npcId: string, generatedOutput: string, more: object = {}): Promise<string> => {
    const asked = { observation: 'Your ring, please.', ...more, generatedOutput };
    return (await post(`/npcs/${npcId}/verdict`, asked))['turnId'] as string;
  };
  /** What was recorded, after its test has passed. */
  const recorded = async (npcId: string, turnId: string, ...words: string[]): Promise<Tests> => {
    const { code, stdout, stderr } = await anima('record', npcId, turnId, ...words);
    expect([code, stderr]).toEqual([0, '']);
    await save('recorded.yaml', stdout);
    const tested = await typed(['rules', 'test', 'recorded.yaml'], { cwd: directory.path });
    expect(tested, stdout).toMatchObject({ code: 0, stderr: '' });
    expect(tested.stdout).toContain('1 passed, 0 failed');
    return (await readJsonOrYaml(
      { cwd: directory.path } as Parameters<typeof readJsonOrYaml>[0],
      'recorded.yaml',
    )) as Tests;
  };
  const caseOf = async (npcId: string, turnId: string, ...words: string[]): Promise<Case> =>
    (await recorded(npcId, turnId, ...words)).cases[0] as Case;

  beforeAll(async () => {
    server = await openEmbeddedServer();
    directory = await temporaryDirectory();
    await save('guard.json', guard);
    await post('/rules', guard);
    for (const npcId of ['mira', 'ida']) await post('/npcs', { npcId, rulesetId: 'guard', data: { gold: 5 } });
    await post('/npcs/ida/facts', { facts: { attacked: true } });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  it('makes a case of a refusal, with the version that decided in full [5.10e, 5.10g, 5.10q, 5.10r]', async () => {
    const gives = { dialogue: 'Here.', action: { type: 'GIVE', target: 'player', payload: { item: 'ring' } } };
    const turnId = await decide('mira', JSON.stringify(gives), { context: { hour: 9, night: null } });
    expect(await recorded('mira', turnId)).toEqual({
      ruleset: { ...guard, grammar: 2 },
      cases: [
        {
          name: `turn ${turnId}`,
          given: { state: { gold: 5 }, context: { hour: 9, night: null } },
          when: { observation: 'Your ring, please.', ...gives },
          then: { valid: false, reason: 'It stays: "always".', drRuleId: 'ring', dialogue: 'Move along.' },
        },
      ],
    });
    const { code, stdout } = await anima('record', 'mira', turnId, '--json', '--name', 'the ring');
    expect([code, (JSON.parse(stdout) as Tests).cases[0]?.name]).toEqual([0, 'the ring']);
  });

  it('makes cases of words, of text around JSON, and of what is valid [5.10g, 5.10q]', async () => {
    expect(await caseOf('mira', await decide('mira', ODD, { observation: ODD }))).toMatchObject({
      when: { observation: ODD, output: ODD },
      then: { valid: true, action: { type: 'SPEAK', target: '', payload: null }, stateDelta: {} },
    });
    const sells = {
      action: { type: 'SELL', payload: { price: 12, items: ['rope', null] } },
      stateDelta: { mood: 'glad' },
    };
    const around = `Sure! ${JSON.stringify(sells)} Bye.`;
    const then = { valid: true, action: { type: 'SELL', payload: sells.action.payload }, stateDelta: sells.stateDelta };
    expect(await caseOf('mira', await decide('mira', around))).toMatchObject({ when: { output: around }, then });
    const remembering = JSON.stringify({ ...sells, memoryStore: ['sold'] });
    expect((await caseOf('mira', await decide('mira', remembering))).when).toHaveProperty('output', remembering);
    const odd = JSON.stringify({ action: { type: 'WAVE', hat: true } });
    expect((await caseOf('mira', await decide('mira', odd))).when).toHaveProperty('output', odd);
  });

  it('knows facts, the state of the request, and replaced actions [5.10e, 5.10g, 5.10q]', async () => {
    const drunk = await decide('mira', '{"action": {"type": "SELL"}}', { npcState: { drunk: true, gold: null } });
    expect(await caseOf('mira', drunk)).toMatchObject({
      given: { npcState: { drunk: true, gold: null } },
      then: { valid: false, drRuleId: 'drunk' },
    });
    const replaced = await decide('ida', 'Peace, friend.');
    await post('/npcs/ida/facts', { facts: { attacked: false } });
    expect(await caseOf('ida', replaced)).toMatchObject({
      given: { facts: { attacked: true } },
      when: { output: 'Peace, friend.' },
      then: {
        valid: true,
        action: { type: 'ATTACK', target: 'player', payload: null },
        replacedBy: 'attacked',
        dialogue: 'To arms!',
      },
    });
  });

  it('makes cases of turns of bodies and agents, by grammar 1 and by what is built in [5.10q, 5.10r]', async () => {
    await post('/rules', {
      rulesetId: 'old',
      grammar: 1,
      rulesetRules: [{ drRuleId: 'r', ruleAction: 'FORBID SELL' }],
    });
    const tape = { observation: 'Sell!', rulesetId: 'old', context: { hour: 3 } };
    const actor = { npcId: 'odo', persona: 'A baker.', data: { bread: 2 } };
    let step = await post('/npcs/odo/process', { tape });
    const results = [
      { type: 'IdentifyActorResult', actor },
      { type: 'QueryVectorResult', memories: [] },
      { type: 'ExecuteInferenceResult', generatedOutput: '{"action": "SELL"}' },
    ];
    const { turnId } = step['tape'] as { turnId: string };
    for (const lastResult of results) {
      expect((await anima('record', 'odo', turnId)).stderr).toMatch(
        /^Turn .+ has no verdict yet, so there is nothing to record\.\n$/,
      );
      step = await post('/npcs/odo/process', { tape: step['tape'], lastResult });
    }
    expect(await caseOf('odo', turnId)).toMatchObject({
      given: { state: { bread: 2 }, context: { hour: 3 } },
      when: { observation: 'Sell!', action: 'SELL' },
      then: { valid: false, drRuleId: 'r' },
    });
    const agent = (await post('/v1/agents/agnes/process', { input: 'Good day!' }))['turnId'] as string;
    expect(await recorded('agnes', agent)).toMatchObject({
      ruleset: { rulesetId: 'default' },
      cases: [
        {
          when: { observation: 'Good day!' },
          then: { valid: true, action: { type: 'SPEAK', target: '', payload: null } },
        },
      ],
    });
    const { turnId: free } = await post('/npcs/odo/verdict', { observation: 'Hi.', generatedOutput: 'Hello.' });
    expect(await anima('record', 'odo', String(free))).toMatchObject({
      ...{ code: 1, stdout: '', stderr: `No ruleset decided turn ${String(free)}, so it has no rules to test.\n` },
    });
    const { turnId: directive } = await post('/npcs/odo/directive', { observation: 'Hi.', rulesetId: 'old' });
    expect((await anima('record', 'odo', String(directive))).stderr).toContain('has no verdict');
    expect((await anima('record', 'odo', 't0_x')).stderr).toContain('(TURN_NOT_FOUND)');
  });

  it('adds cases to a file, and changes nothing else in it [5.10r, 5.10s]', async () => {
    const turnId = await decide('mira', '{"action": {"type": "GIVE", "target": "player"}}');
    const add = (...words: string[]) => anima('record', 'mira', turnId, ...words);
    await save('tests.yaml', '# What players try.\nruleset: "./guard.json"\ncases: []\n');
    for (const name of ['one', 'two'])
      expect(await add('-o', 'tests.yaml', '--name', name, '--ruleset', 'guard.json')).toEqual({
        ...{ code: 0, stdout: `Added the case "${name}" to tests.yaml.\n`, stderr: '' },
      });
    const [before, text] = [
      await read('tests.yaml'),
      '# What players try.\nruleset: "./guard.json"\ncases:\n  - name: one\n',
    ];
    expect(before.startsWith(text), before).toBe(true);
    expect((await anima('test', 'tests.yaml')).stdout).toContain('2 passed, 0 failed');
    const failures = [
      [
        ['-o', 'tests.yaml', '--name', 'two'],
        'tests.yaml already has a case named "two". Use --name for another name.',
      ],
      [['-o', 'tests.yaml', '--json'], 'Use either --json or -o, whose form the name of the file says.'],
      [['-o', 'guard.json'], /^guard\.json cannot be added to\. This is a ruleset, /],
      [['-o', 'new.yaml', '--ruleset', 'tests.yaml'], /^tests\.yaml is a file of tests, /],
      [['-o', 'new.yaml', '--ruleset', 'nowhere.json'], 'nowhere.json does not exist.'],
      [['-o', 'no/new.yaml'], 'no/new.yaml cannot be written (ENOENT).'],
    ] as const;
    for (const [words, why] of failures) {
      const { code, stderr } = await add(...words);
      expect(code).not.toBe(0);
      expect(stderr.trimEnd()).toMatch(why);
    }
    expect((await add('-o', 'full.json', '--name', 'one')).code).toBe(0);
    expect((await add('-o', 'full.json', '--name', 'two')).code).toBe(0);
    const full = await read('full.json');
    expect((JSON.parse(full) as Tests).cases.map(({ name }) => name)).toEqual(['one', 'two']);
    expect((await add('-o', 'full.json', '--name', 'three', '--ruleset', 'guard.json')).stderr).toBe(
      'full.json has its ruleset in full. Leave out --ruleset, or write to another file.\n',
    );
    await save('other.json', { ...(JSON.parse(full) as Tests), ruleset: { rulesetRules: [] } });
    const other = await read('other.json');
    expect((await add('-o', 'other.json', '--name', 'three')).stderr).toBe(
      'other.json tests other rules than those that decided. Write to another file.\n',
    );
    await save('lenient.json', { rulesetRules: [] });
    expect((await add('-o', 'tests.yaml', '--name', 'three', '--ruleset', 'lenient.json')).stderr).toBe(
      'tests.yaml tests ./guard.json. Leave out --ruleset, or write to another file.\n',
    );
    expect([await read('tests.yaml'), await read('full.json'), await read('other.json')]).toEqual([
      before,
      full,
      other,
    ]);
    await save('odd.yaml', 'ruleset: guard.json\ncase: []\n');
    expect((await add('-o', 'odd.yaml')).stderr).toBe(
      'odd.yaml is no valid file of tests.\n  /case: There is no member "case". Perhaps cases was meant.\n  The member cases is missing.\n',
    );
  });

  it('says if other rules would decide now [5.10t]', async () => {
    await save('lenient.json', { rulesetRules: [] });
    const turnId = await decide('mira', '{"action": {"type": "GIVE", "target": "player"}}');
    const { code, stdout, stderr } = await anima('record', 'mira', turnId, '--ruleset', 'lenient.json');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ruleset: lenient\.json\ncases:\n/)]);
    expect(stderr).toMatch(/^The case does not pass: valid expected false, was true; /);
  });

  it('cannot record a turn without a verdict or rules [5.10u]', async () => {
    const { turnId } = await post('/npcs/una/verdict', { observation: 'Hi.', generatedOutput: 'Hello.' });
    expect((await anima('record', 'una', String(turnId))).stderr).toContain('No ruleset decided turn');
  });
});
