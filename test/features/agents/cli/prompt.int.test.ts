import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ServerUnderTest } from '../../../scenarios/server-under-test.js';
import { apiOf } from '../../../support/api.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { typed } from '../../../cli/typed.js';

describe('anima prompt show', () => {
  let server: ServerUnderTest;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    server = await openEmbeddedServer();
    const api = apiOf(server.url, server.ownerKey);
    await api.post('/npcs', { npcId: 'mira', persona: 'An innkeeper.' });
    await api.post('/v1/agents/mira/memory', { text: 'The miller owes the inn nine coins.' });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });
  const show = (...words: string[]) =>
    typed(['prompt', 'show', 'mira', ...words], {
      cwd: directory.path,
      env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey },
    });

  it('prints the parts of the prompt with their origins, and records nothing [13.7e]', async () => {
    const api = apiOf(server.url, server.ownerKey);
    const before = (await api.get('/npcs/mira/history')).body;
    const { code, stdout, stderr } = await show('Does the miller owe you coins?', '--context', '{"place": "bar"}');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^prompt for mira: \d+ characters, about \d+ tokens, 1 memory, rules of default version 0\n/,
    );
    expect(stdout).toContain('persona:\n    Who you are: "An innkeeper."\n');
    expect(stdout).toContain('context:\n    What is around you: {"place":"bar"}\n');
    expect(stdout).toMatch(/\nmemory \S+:\n {4}just now: "The miller owes the inn nine coins\."\n/);
    expect(stdout).toMatch(/\nobservation:\n {4}"Does the miller owe you coins\?"\n$/);
    expect((await api.get('/npcs/mira/history')).body).toEqual(before);
  });

  it('shows it under the rules of a file or of an id, and whole as JSON [13.7e]', async () => {
    const rules = { rulesetId: 'tavern', prompt: { headings: { persona: 'Wer du bist' } } };
    await writeFile(join(directory.path, 'tavern.json'), JSON.stringify(rules));
    const ofFile = await show('Hello.', '--ruleset', 'tavern.json', '--player', 'ada');
    expect(ofFile.stdout).toContain('rules of tavern.json\n');
    expect(ofFile.stdout).toContain('Wer du bist: "An innkeeper."');
    const { code, stderr } = await show('Hello.', '--ruleset', 'tavern');
    expect([code, stderr]).toEqual([1, expect.stringContaining('No ruleset "tavern" is registered.')]);
    const whole = JSON.parse((await show('Hello.', '--json')).stdout) as object;
    expect(whole).toMatchObject({
      logic: 4,
      parts: expect.any(Array) as object,
      messages: expect.any(Array) as object,
    });
  });

  it('says that an NPC has no events yet, such as a misspelt one', async () => {
    const env = { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey };
    const { code, stdout, stderr } = await typed(['prompt', 'show', 'nobody', 'Hi.'], { env });
    expect([code, stderr]).toEqual([0, 'nobody has no events yet.\n']);
    expect(stdout).toMatch(/^prompt for nobody: /);
  });

  it('refuses rules in YAML', async () => {
    await writeFile(join(directory.path, 'tavern.yaml'), 'rulesetId: tavern\n');
    const { code, stderr } = await show('Hello.', '--ruleset', 'tavern.yaml');
    expect([code, stderr]).toEqual([1, expect.stringContaining('tavern.yaml is YAML, but rulesets are JSON.')]);
  });

  it('refuses a context that is no object [13.7e]', async () => {
    const { code, stderr } = await show('Hello.', '--context', '[1]');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--context must be an object in JSON')]);
  });
});
