import { describe, expect, it } from 'vitest';

import { createMindRequest } from '../../../../src/body/mind-request.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { typed } from '../../../cli/typed.js';

describe('anima memories', () => {
  it('prints one memory per line with its ID, oldest first, by type and as of a revision, without control characters', async () => {
    await using server = await openEmbeddedServer();
    const anima = (...words: string[]) =>
      typed(['memories', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey } });
    const lines = (text: string) => text.split('\n').slice(0, -1);
    const request = createMindRequest({ baseUrl: server.url, key: server.ownerKey });
    const npc = '/npcs/the%20guard';
    const rain = { text: 'It \u001b[2J rained.', importance: 0.25 };
    const gate = { text: 'The gate\nis old.', type: 'knowledge', player: 'ann' };
    const first = (await request('POST', `${npc}/memory`, rain)) as { readonly id: string };
    const second = (await request('POST', '/v1/agents/the%20guard/memory', gate)) as { readonly id: string };

    const whole = await anima('the guard');
    expect([whole.code, whole.stderr]).toEqual([0, '']);
    expect(lines(whole.stdout)).toEqual([
      expect.stringMatching(/^MEMORY +STORED +TYPE +IMPORTANCE +CONFIRMED +PLAYER +TEXT$/),
      expect.stringMatching(new RegExp(`^${first.id} +2\\S+Z {2}observation {2}0\\.25 +yes +- +It .* rained\\.$`)),
      expect.stringMatching(new RegExp(`^${second.id} +2\\S+Z {2}knowledge +0\\.8 +- +ann +The gate.*is old\\.$`)),
    ]);
    expect(whole.stdout).not.toContain('\u001b');

    const typedOnly = await anima('the guard', '--type', 'knowledge,emotion', '--json');
    expect(lines(typedOnly.stdout).map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(['knowledge']);

    const found = await anima('the guard', '--grep', 'GATE');
    expect(lines(found.stdout).map((line) => line.split(' ')[0])).toEqual(['MEMORY', second.id]);
    expect((await anima('the guard', '--grep', 'gate', '--json', '--limit', '1')).stderr).toBe('');
    expect(await anima('the guard', '--grep', 'nothing')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No memories found.\n',
    });
    const one = await anima('the guard', '--grep', 'A', '--limit', '1');
    expect([lines(one.stdout).length, one.stderr]).toEqual([2, 'There may be more: raise --limit to see them.\n']);

    await request('DELETE', `${npc}/memory/clear`);
    expect(await anima('the guard')).toEqual({ code: 0, stdout: '', stderr: 'No memories found.\n' });
    const then = await anima('the guard', '--as-of', '1', '--json');
    expect(lines(then.stdout).map((line) => JSON.parse(line) as object)).toMatchObject([{ confirmed: true }]);
    const cut = await anima('the guard', '--as-of', '2', '--limit', '1');
    expect([lines(cut.stdout).length, cut.stderr]).toEqual([2, 'There are more: raise --limit to see them.\n']);
    expect(await anima('the guard', '--as-of', 'yesterday')).toMatchObject({ code: 2, stdout: '' });
  });
});
