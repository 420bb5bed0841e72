import { describe, expect, it } from 'vitest';

import { createMindRequest } from '../../../../src/body/mind-request.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { typed } from '../../../cli/typed.js';

describe('anima search', () => {
  it('prints a hit per line, newest first, with speaker, listener and turn, without control characters', async () => {
    await using server = await openEmbeddedServer();
    const anima = (...words: string[]) =>
      typed(['search', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey } });
    const lines = (text: string) => text.split('\n').slice(0, -1);
    const request = createMindRequest({ baseUrl: server.url, key: server.ownerKey });
    const said = (await request('POST', '/npcs/the%20guard/verdict', {
      observation: 'Who holds\nthe \u001b[2J lantern?',
      npcState: { playerName: 'An\u202ena' },
      generatedOutput: '{"dialogue": "I hold the lantern."}',
    })) as { turnId: string };
    await request('POST', '/npcs/other/memory', { text: 'A lantern burned.' });

    const whole = await anima('lantern');
    expect([whole.code, whole.stderr]).toEqual([0, '']);
    expect(lines(whole.stdout)).toEqual([
      expect.stringMatching(/^2\S+ \S+ {2}other {2}memory {2}"A lantern burned\." {2}\S+$/),
      expect.stringMatching(
        /^2\S+ \S+ {2}the guard {2}said {2}the guard -> An\\u202ena {2}"I hold the lantern\." {2}\[\S+\]$/,
      ),
      expect.stringMatching(
        /^2\S+ \S+ {2}the guard {2}heard {2}An\\u202ena -> the guard {2}"Who holds the \\u001b\[2J lantern\?" {2}\S+-0 {2}\[\S+\]$/,
      ),
    ]);
    expect(whole.stdout).toContain(`[${said.turnId}]`);

    const one = await anima('"the lantern" -who', '--since', '1h', '--kind', 'said,heard', '--json');
    expect(lines(one.stdout).map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(['said']);
    expect(await anima('--npc', 'other', '--until', '2020-01-01')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No results.\n',
    });
    expect((await anima('lanter')).stderr).toMatch(/^No results\. .*old\* matches/);
    const cut = await anima('lantern', '--limit', '1');
    expect([lines(cut.stdout).length, cut.stderr]).toEqual([1, 'There may be more: raise --limit to see them.\n']);
    expect(await anima('"open')).toMatchObject({ code: 1, stdout: '' });
    expect(await anima('lantern', '--since', 'yesterday')).toMatchObject({ code: 2, stdout: '' });
  });
});
