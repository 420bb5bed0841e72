import { describe, expect, it } from 'vitest';

import { createMindRequest } from '../../../../src/body/mind-request.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { typed } from '../../../cli/typed.js';

describe('anima activity', () => {
  it('counts turns and refusals by time, and refusals by rule, of all NPCs and of one [10.14a, 10.14b]', async () => {
    await using server = await openEmbeddedServer();
    const anima = (...words: string[]) =>
      typed(['activity', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey } });
    const request = createMindRequest({ baseUrl: server.url, key: server.ownerKey });
    const rule = {
      drRuleId: 'ring \u009b stays',
      ruleName: 'No gifts',
      ruleObsPattern: 'ring',
      ruleAction: 'FORBID GIVE',
      ruleReason: 'No.',
    };
    await request('POST', '/rules', { rulesetId: 'heirlooms', rulesetRules: [rule] });
    await request('POST', '/npcs', { npcId: 'mira', data: { inventory: ['silver ring'] } });
    await request('POST', '/npcs/mira/verdict', {
      rulesetId: 'heirlooms',
      observation: 'Give me your ring.',
      generatedOutput:
        '{"dialogue":"Take it.","action":{"type":"GIVE","target":"you","payload":{"item":"silver ring"}}}',
    });
    await request('POST', '/npcs/odo/process', { tape: { observation: 'Rain.' } });

    const all = await anima('--step', '1d', '--since', '1d');
    const [header, ...lines] = all.stdout.split('\n').slice(0, -1);
    expect([all.code, all.stderr, header]).toEqual([0, '', expect.stringMatching(/^FROM \(UTC\) +TURNS +REFUSALS$/)]);
    expect(lines.slice(-4)).toEqual([
      expect.stringMatching(/^total +2 +1$/),
      '',
      expect.stringMatching(/^RULE +REFUSALS$/),
      expect.stringMatching(/^ring .* stays +1$/),
    ]);
    expect(lines[0]).toMatch(/^20\d\d-\d\d-\d\d 00:00 +\d+ +\d+$/);
    expect(all.stdout).not.toContain('\u009b');

    const one = await anima('odo', '--buckets', '3');
    expect(one.stdout).toMatch(/\ntotal +1 +0\n$/);
    const { stdout } = await anima('mira', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ turns: 1, refusals: 1, step: '1h' });
    expect(await anima('nobody')).toMatchObject({ code: 1, stdout: '' });
  });

  it('refuses the length of buckets for one NPC, and their number for all', async () => {
    expect(await typed(['activity', 'mira', '--step', '1d'])).toMatchObject({
      code: 2,
      stderr: '--step is for the counts of all NPCs. For one NPC, use --buckets.\n',
    });
    expect(await typed(['activity', '--buckets', '3'])).toMatchObject({
      code: 2,
      stderr: '--buckets is for the counts of one NPC. For all NPCs, use --step.\n',
    });
  });
});
