import { describe, expect, it } from 'vitest';

import { createMindRequest } from '../../../../src/body/mind-request.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { typed } from '../../../cli/typed.js';

describe('anima changes', () => {
  it('prints each member of the state that differs between two moments, without control characters', async () => {
    await using server = await openEmbeddedServer();
    const anima = (...words: string[]) =>
      typed(['changes', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey } });
    const request = createMindRequest({ baseUrl: server.url, key: server.ownerKey });
    await request('POST', '/npcs', { npcId: 'the guard', persona: 'A guard.', data: { hp: 3, rank: '5' } });
    await request('PATCH', '/npcs/the%20guard', { data: { hp: 2, rank: null, note: '\u009b' } });

    const all = await anima('the guard', '--from', '0', '--to', '1');
    expect([all.code, all.stdout.split('\n')]).toEqual([
      0,
      ['/data/hp: 3 -> 2', '/data/note: (none) -> "\\u009b"', '/data/rank: "5" -> (none)', ''],
    ]);
    expect(all.stderr).toMatch(/^Compared from revision 0 \(20\S+Z\) to revision 1 \(20\S+Z\)\.\n$/);
    expect(all.stdout).not.toContain('\u009b');

    const none = await anima('the guard', '--from', '1');
    expect([none.stdout, none.stderr]).toEqual(['', expect.stringMatching(/^No changes from revision 1 /)]);
    const { stdout } = await anima('the guard', '--from', '0', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ npcId: 'the guard', from: { revision: 0 }, to: { revision: 1 } });
    const today = new Date().toISOString().slice(0, 10);
    expect((await anima('the guard', '--from', today)).stderr).toContain('did not exist at that time');
    expect(await anima('nobody', '--from', '0')).toMatchObject({ code: 1, stdout: '' });
    expect((await anima('the guard')).code).toBe(2);
    expect((await anima('the guard', '--from', 'noon')).code).toBe(2);
  });
});
