import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ServerUnderTest } from '../../../scenarios/server-under-test.js';
import { apiOf } from '../../../support/api.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { typed } from '../../../cli/typed.js';

const strict = {
  rulesetId: 'strict',
  rulesetRules: [
    { drRuleId: 'no-gifts', ruleObsPattern: 'ring', ruleAction: 'FORBID GIVE', ruleReason: 'It is ours.' },
    { drRuleId: 'no-naps', ruleAction: 'FORBID NAP', ruleReason: 'Stay awake.' },
  ],
};
const give = {
  observation: 'A stranger asks for the ring.',
  generatedOutput: '{"dialogue": "Take it.", "action": {"type": "GIVE", "target": "stranger"}}',
};

describe('anima replay and anima trial', () => {
  let server: ServerUnderTest;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let turnId: string;
  const anima = (...words: string[]) =>
    typed(words, { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey }, cwd: directory.path });

  beforeAll(async () => {
    server = await openEmbeddedServer();
    directory = await temporaryDirectory();
    await writeFile(join(directory.path, 'strict.json'), JSON.stringify(strict));
    await writeFile(join(directory.path, 'mild.json'), JSON.stringify({ rulesetRules: [strict.rulesetRules[1]] }));
    const api = apiOf(server.url, server.ownerKey);
    turnId = ((await api.post('/npcs/mira/verdict', give)).body as { turnId: string }).turnId;
    await api.post('/npcs/mira/verdict', { ...give, observation: 'A stranger asks for a song.' });
    await api.post('/npcs/finn/directive', { observation: 'Somebody sings.' });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  it('report that every decision matches the record [11.5d]', async () => {
    const all = await anima('replay');
    expect(all.stdout).toBe('completed: 3 turns in 2 histories, 3 equal, 0 different, 0 skipped\n');
    expect([all.code, all.stderr]).toEqual([0, expect.stringMatching(/^Replay r\S+\.\n$/)]);
    const one = await anima('replay', 'mira', '--since', '1h', '--json');
    expect(JSON.parse(one.stdout)).toMatchObject({ status: 'completed', minds: 1, turns: { checked: 2, equal: 2 } });
    const first = await anima('replay', 'mira', '--to', '0');
    expect(first.stdout).toContain('1 turn in 1 history, 1 equal');
  });

  it('report what other rules would have refused', async () => {
    const tried = await anima('trial', 'strict.json');
    expect(tried.code).toBe(0);
    expect(tried.stdout).toContain(
      'completed: 3 turns in 2 histories, 1 equal, 2 different, 0 skipped\n  newlyRefused  1      mira\n  otherRecall   1      finn\n',
    );
    expect(tried.stdout).toMatch(/strict no-gifts +0 +1 +1 +0\nstrict no-naps +0 +3 +0 +\d\n/);
    expect(tried.stdout).toContain(
      `newlyRefused: mira ${turnId} (revision 0)\n  was:   GIVE stranger: "Take it."\n  would: refused by no-gifts: It is ours. (RULE_REFUSED)\n`,
    );
  });

  it('fail when a limit is exceeded [11.5d]', async () => {
    const beyond = await anima('trial', 'strict.json', 'mira', '--fail-on', 'newly-refused=0,newly-allowed=0');
    expect([beyond.code, beyond.stderr.split('\n')[1]]).toEqual([1, 'The trial failed: newly-refused 1 (at most 0).']);
    expect((await anima('trial', 'strict.json', '--fail-on', 'newly-refused=1')).code).toBe(0);
    expect((await anima('trial', 'strict.json', '--fail-on', 'newly-refused')).code).toBe(2);
    expect((await anima('replay', '--since', 'yesterday')).code).toBe(2);
    const mistyped = await anima('replay', 'mirra');
    expect([mistyped.code, mistyped.stderr.split('\n')[1]]).toEqual([3, 'This NPC does not exist: mirra.']);
    expect((await anima('replay', '--from', '1')).code).toBe(2);
    expect((await anima('trial', 'strict.json', '--turn', turnId)).code).toBe(2);
  });

  it('fail when nothing could be checked [11.5d]', async () => {
    const mistyped = await anima('trial', 'strict.json', '--instead', 'strickt', '--fail-on', 'newly-refused=0');
    expect([mistyped.code, mistyped.stderr]).toEqual([
      3,
      expect.stringContaining('No ruleset "strickt" is registered. (RULESET_NOT_FOUND)'),
    ]);
    await writeFile(join(directory.path, 'strict.test.yaml'), 'ruleset: strict.json\ncases: []\n');
    expect(await anima('trial', 'strict.test.yaml')).toMatchObject({
      code: 3,
      stderr: 'strict.test.yaml is a file of tests, which "anima rules test" takes. Give its ruleset here.\n',
    });
    await writeFile(join(directory.path, 'soul.json'), '{"id":"mira","memories":[]}');
    const mistaken = await anima('trial', 'soul.json');
    expect([mistaken.code, mistaken.stderr]).toEqual([3, expect.stringContaining('soul.json is not a ruleset')]);
    const early = await anima('replay', '--until', '2020-01-01');
    expect([early.code, early.stderr]).toEqual([
      3,
      expect.stringContaining('Nothing could be checked: no recorded decision'),
    ]);
  });

  it('say how many minds an --instead concerned [10.3j]', async () => {
    const api = apiOf(server.url, server.ownerKey);
    await api.post('/rules', { rulesetId: 'inn', rulesetRules: strict.rulesetRules });
    await api.post('/npcs/odo/directive', { observation: 'Nobody sings.', rulesetId: 'inn' });
    const narrow = await anima('trial', 'mild.json', '--instead', 'inn', '--json');
    expect(JSON.parse(narrow.stdout)).toMatchObject({ minds: 3, concerned: 1, turns: { checked: 1 } });
    expect((await anima('trial', 'mild.json', '--instead', 'inn')).stdout).toContain('1 turn in 1 of 3 histories, ');
  });

  it('refuse a misspelt time before they ask the server [11.5e]', async () => {
    const misspelt = await typed(['replay', '--since', '2026-13-01']);
    expect([misspelt.code, misspelt.stderr]).toEqual([2, expect.stringContaining('It must be a day such as')]);
  });

  it('report whether one turn would end the same', async () => {
    const other = await anima('trial', 'strict.json', 'mira', '--turn', turnId);
    expect(other.stdout).toMatch(/^The turn would be refused\.\n/);
    expect(other.stdout).toContain('would: refused by no-gifts: It is ours.');
    const same = await anima('trial', 'mild.json', 'mira', '--turn', turnId);
    expect([same.code, same.stdout]).toEqual([0, 'The outcome would be the same.\n']);
    const none = await anima('trial', 'mild.json', 'mira', '--turn', 'nowhere');
    expect([none.code, none.stderr.split('\n')[1]]).toEqual([3, 'This NPC has no turn nowhere.']);
  });
});
