import { describe, expect, it } from 'vitest';

import { createMindRequest } from '../../../../src/body/mind-request.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { typed } from '../../../cli/typed.js';

describe('anima players', () => {
  it('prints whom an NPC knows, one per line, without control characters [12.3a]', async () => {
    await using server = await openEmbeddedServer();
    const anima = (...words: string[]) =>
      typed(['players', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey } });
    const request = createMindRequest({ baseUrl: server.url, key: server.ownerKey });
    await request('POST', '/npcs', {
      npcId: 'guard',
      data: { relationships: { 'p-ann': { trust: 3, note: '\u009b' } } },
    });
    expect(await anima('guard')).toEqual({ code: 0, stdout: '', stderr: 'No players found.\n' });

    const player = { id: 'p-ann', name: 'Ann' };
    await request('POST', '/npcs/guard/process', { tape: { observation: 'A stranger comes.' }, player });
    const { stdout } = await anima('guard');
    expect(stdout).toMatch(
      /^SINCE +LAST +TURNS +FROM +PLAYER +NAME +STANDING\n\S+ +\S+ +1 +body +p-ann +Ann +\{"trust":3,/,
    );
    const [head = '', first = ''] = stdout.split('\n');
    expect(first.indexOf('{')).toBe(head.indexOf('STANDING'));
    expect(stdout).not.toContain('\u009b');
    const { stdout: json } = await anima('guard', '--json');
    expect(JSON.parse(json)).toMatchObject({ ...player, turns: 1, standing: { trust: 3 } });
    expect(await anima('nobody')).toMatchObject({ code: 1, stdout: '' });
  });
});
