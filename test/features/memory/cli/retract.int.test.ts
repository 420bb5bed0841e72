import { describe, expect, it } from 'vitest';

import { createMindRequest } from '../../../../src/body/mind-request.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { typed } from '../../../cli/typed.js';

const lines = (text: string): readonly string[] => text.split('\n').slice(0, -1);

describe('anima lineage, retract and coverage', () => {
  it('show what was derived from a memory, retract it once confirmed, and show what the rules did', async () => {
    await using server = await openEmbeddedServer();
    const env = { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey };
    const anima = (...words: string[]) => typed(words, { env });
    const request = createMindRequest({ baseUrl: server.url, key: server.ownerKey });
    const npc = '/npcs/the%20guard';
    const { id } = (await request('POST', `${npc}/memory`, { text: 'The \u001b[2J baker lied.', player: 'ann' })) as {
      id: string;
    };
    let { tape }: { tape: object } = { tape: { observation: 'Who lied?', context: {}, npcState: {} } };
    const step = async (lastResult?: object): Promise<void> => {
      ({ tape } = (await request('POST', `${npc}/process`, { tape, lastResult })) as { tape: object });
    };
    await step();
    await step({ type: 'IdentifyActorResult', actor: { npcId: 'the guard', persona: 'A guard.', data: {} } });
    const memories = [{ text: 'The \u001b[2J baker lied.', type: 'observation', importance: 1, similarity: 0.5 }];
    await step({ type: 'QueryVectorResult', memories });
    const said = { dialogue: 'The baker!', memoryStore: [{ text: 'Bakers lie.' }] };
    await step({ type: 'ExecuteInferenceResult', generatedOutput: JSON.stringify(said) });

    const shown = await anima('lineage', 'the guard', id);
    expect([shown.code, shown.stderr]).toEqual([0, '']);
    expect(shown.stdout).not.toContain('\u001b');
    expect(lines(shown.stdout)).toEqual([
      expect.stringMatching(new RegExp(`^${id} "The .* baker lied\\."$`)),
      expect.stringMatching(/^├─ stored at revision 0, 2\S+Z, by \S+$/),
      '│  └─ player ann',
      '├─ recalled by',
      expect.stringMatching(/^│ {2}└─ turn t\S+, 2\S+Z, matched by text, similarity 0\.50: SPEAK "The baker!"$/),
      '└─ derived',
      expect.stringMatching(/^ {3}└─ t\S+-0 "Bakers lie\." stored in turn t\S+$/),
    ]);
    const json = await anima('lineage', 'the guard', id, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ derived: [{ text: 'Bakers lie.' }], cut: false });

    const asked = await anima('retract', 'the guard', id, '--reason', 'A lie.', '--derived');
    expect([asked.code, asked.stderr]).toEqual([1, 'Nothing was changed. Pass --yes to retract 2 memories.\n']);
    expect(lines(asked.stdout)).toEqual([
      expect.stringMatching(new RegExp(`^${id} {2}"The .* baker lied\\."$`)),
      expect.stringMatching(new RegExp(`^\\S+ {2}"Bakers lie\\." {2}derived from ${id}$`)),
    ]);
    expect(await anima('retract', 'the guard', id)).toMatchObject({ code: 2, stdout: '' });
    expect(await anima('retract', 'the guard', 'm0', '--reason', 'x', '--yes')).toMatchObject({ code: 1, stdout: '' });
    const answered = (line: string) =>
      typed(['retract', 'the guard', id, '--reason', 'A lie.'], { env, lines: [line], isTerminal: true });
    const no = await answered('n');
    expect([no.code, no.stderr]).toEqual([
      1,
      expect.stringMatching(/Retract 1 memory\? \[y\/N\] [^]*Nothing was changed\.\n$/),
    ]);
    expect((await request('GET', `${npc}/memory`)) as unknown[]).toHaveLength(2);
    const done = await anima('retract', 'the guard', id, '--reason', 'A lie.', '--derived', '--yes');
    expect([done.code, done.stdout, done.stderr]).toEqual([0, asked.stdout, 'Retracted 2 memories.\n']);
    for (const unasked of [[], ['--yes']]) {
      const again = await anima('retract', 'the guard', id, '--reason', 'A lie.', ...unasked);
      expect(again).toEqual({ code: 0, stdout: '', stderr: 'Those memories have already been retracted.\n' });
    }
    expect((await anima('memories', 'the guard')).stderr).toBe('No memories found.\n');
    expect((await anima('lineage', 'the guard', id)).stdout).toMatch(/├─ retracted 2\S+Z by \S+: "A lie\."/);
    expect((await anima('history', 'the guard')).stdout).toMatch(/MemoriesRetracted +2 memories: A lie\./);

    await request('POST', '/rules/presets/default', {});
    await request('POST', '/npcs/cook/verdict', { observation: 'Soup.', generatedOutput: 'Hot soup.' });
    const covered = await anima('coverage', 'default', '--since', '7d', '--npc', 'cook');
    expect([covered.code, covered.stderr]).toEqual([0, '1 decision under version 1 of default.\n']);
    expect(lines(covered.stdout)[0]).toMatch(/^RULE +USE +FIRED +DECIDED +SHADOWED +ERRORS +NAME$/);
    expect(await anima('coverage', 'default', '--since', 'lately')).toMatchObject({ code: 2 });
    expect(await anima('coverage', 'nowhere')).toMatchObject({ code: 1 });
    const page = await anima('coverage', 'default', '--version', '1', '--json');
    expect(JSON.parse(page.stdout)).toMatchObject({ rulesetId: 'default', version: 1, decisions: 1 });
  });
});
