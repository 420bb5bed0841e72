import { describe, expect, it } from 'vitest';

import { createMindRequest } from '../../../../src/body/mind-request.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { typed } from '../../../cli/typed.js';

describe('anima retractions', () => {
  it('prints the retractions in all NPCs, newest first, one per line, without control characters [10.12s]', async () => {
    await using server = await openEmbeddedServer();
    const anima = (...words: string[]) =>
      typed(['retractions', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey } });
    const request = createMindRequest({ baseUrl: server.url, key: server.ownerKey });
    expect(await anima()).toEqual({ code: 0, stdout: '', stderr: 'No retractions found.\n' });
    for (const npcId of ['mira', 'odo']) {
      const stored = await request('POST', `/npcs/${npcId}/memory`, { text: 'The mill burned.' });
      const { id } = stored as { readonly id: string };
      await request('POST', `/npcs/${npcId}/memory/retract`, { memoryIds: [id], reason: `${npcId} lied. \u009b` });
    }
    const { code, stdout } = await anima();
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        expect.stringMatching(/^RETRACTED +NPC +KEY ID +MEMORIES +REASON$/),
        expect.stringMatching(/^20\S+Z +odo +\S+ +1 +odo lied\. /),
        expect.stringMatching(/^20\S+Z +mira +\S+ +1 +mira lied\. /),
        '',
      ],
    ]);
    expect(stdout).not.toContain('\u009b');
    const one = await anima('--limit', '1', '--json');
    expect(JSON.parse(one.stdout)).toMatchObject({ npcId: 'odo', memoryIds: [expect.any(String)] });
    expect(one.stderr).toBe('There are more: raise --limit to see them.\n');
  });
});
