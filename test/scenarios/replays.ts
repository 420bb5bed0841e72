import { describe, expect, it } from 'vitest';

import { codeOf, patientApiOf, type Reply } from '../support/api.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

type RefusedMember = { readonly error: { readonly details: { readonly problems: readonly { meant?: string }[] } } };
type Replay = {
  readonly replayId: string;
  readonly status: string;
  readonly turns: { readonly checked: number; readonly equal: number; readonly different: number };
  readonly samples: readonly { readonly npcId: string; readonly turnId: string; readonly kind: string }[];
};

/** How long a replay may take in a test, in milliseconds; they take a second. */
const REPLAY_MS = 60_000;
const given = (target: string): object => ({
  observation: 'A stranger asks for the ring.',
  npcState: { hp: 12 },
  generatedOutput: JSON.stringify({ dialogue: 'Take it.', action: { type: 'GIVE', target, item: 'ring' } }),
});
const house = {
  rulesetId: 'house',
  rulesetRules: [{ drRuleId: 'polite', ruleCondition: [['hp', '<50']], ruleAction: 'be polite' }],
};
const strict = {
  rulesetRules: [
    { drRuleId: 'no-gifts', ruleObsPattern: 'ring', ruleAction: 'FORBID GIVE', ruleReason: 'It is ours.' },
  ],
};

/** Replays and trials over HTTP: the same on every profile. */
export const replayScenarios = (profile: string, open: OpenServer): void => {
  describe(`replays on ${profile}`, () => {
    const running = projectingServer(open);
    const ok = (reply: Reply, status = 200): Reply => {
      expect(reply.status, reply.text).toBe(status);
      return reply;
    };
    const play = async (npcId: string, turns: number): Promise<void> => {
      for (let turn = 0; turn < turns; turn += 1) {
        const said = { ...given(`guest ${String(turn)}`), rulesetId: 'house' };
        ok(await running.api.post(`/npcs/${npcId}/verdict`, said));
        ok(await running.api.post(`/npcs/${npcId}/directive`, { observation: 'Somebody sings.', rulesetId: 'house' }));
      }
    };
    const over = async (path: string): Promise<Replay> => {
      const read = async (): Promise<Replay> => ok(await running.api.get(path)).body as Replay;
      await expect.poll(async () => (await read()).status, { timeout: REPLAY_MS, interval: 200 }).not.toBe('running');
      return read();
    };
    const run = async (path: string, body: object = {}): Promise<Replay> => {
      const accepted = ok(await running.api.post(path, body), 202);
      const location = accepted.headers.get('location') ?? '';
      expect(location).toBe(`${path}/${(accepted.body as Replay).replayId}`);
      return over(location);
    };

    it('of recorded decisions are all equal [10.3a, 10.3b, 10.3c, 10.3h, 10.3j, 10.3k, 10.3n, 10.11f]', async () => {
      ok(await running.api.post('/rules', house));
      await play('ada', 3);
      await play('bo', 2);
      const one = await run('/npcs/ada/replays');
      expect(one).toMatchObject({
        ...{ status: 'completed', trial: false, progress: 1, minds: 1, unknown: [] },
        turns: { checked: 6, equal: 6, different: 0, skipped: 0 },
        ...{ samples: [], startedAt: expect.any(String), endedAt: expect.any(String) },
      });
      expect(one).toMatchObject({
        rules: [{ rulesetId: 'house', drRuleId: 'polite', matched: { was: 3, would: 3 }, decided: 0, shadowed: 0 }],
      });
      expect(one).not.toHaveProperty('firstDifference');
      expect(one).not.toHaveProperty('byLogic');
      const covered = ok(await running.api.get(`/rules/house/coverage?replayId=${one.replayId}`)).body;
      expect(covered).toMatchObject({ rulesetId: 'house', version: null, decisions: 6 });
      expect(covered).toMatchObject({
        rules: [{ drRuleId: 'polite', fired: 3, decided: 0, shadowed: 0, use: 'fired' }],
      });
      const all = await run('/replays');
      expect(all.turns).toEqual({ checked: 10, equal: 10, different: 0, skipped: 0 });
      const named = await run('/replays', { npcIds: ['bo', 'bo', 'nobody'] });
      expect(named).toMatchObject({ minds: 1, unknown: ['nobody'], turns: { checked: 4 } });
      expect((await run('/replays', { until: '2020-01-01T00:00:00Z' })).turns.checked).toBe(0);
    });

    it('with other rules show what these would have refused, without registering them [10.3b, 10.3d, 10.3e, 10.3l, 10.3m, 10.3n, 10.3t, 10.11f]', async () => {
      const tried = await run('/npcs/ada/replays', { rules: strict });
      expect(tried).toMatchObject({
        trial: true,
        turns: { checked: 6, different: 3 },
        differences: { newlyRefused: 3, newlyAllowed: 0, otherTrace: 0 },
        byLogic: { decisions: 0, samples: [] },
        rules: [
          { rulesetId: 'trial', drRuleId: 'no-gifts', matched: { was: 0, would: 3 }, decided: 3, shadowed: 0 },
          { rulesetId: 'house', drRuleId: 'polite', matched: { was: 3, would: 0 } },
        ],
        firstDifference: { npcId: 'ada', kind: 'newlyRefused' },
      });
      const coverageOf = (rulesetId: string, query = '') =>
        running.api.get(`/rules/${rulesetId}/coverage?replayId=${tried.replayId}${query}`);
      expect(ok(await coverageOf('trial')).body).toMatchObject({
        ...{ rulesetId: 'trial', version: null },
        rules: [{ drRuleId: 'no-gifts', fired: 3, decided: 3, use: 'decided', samples: [{ npcId: 'ada' }, {}, {}] }],
      });
      expect(codeOf(await coverageOf('nobody'))).toBe('RULESET_NOT_FOUND');
      expect(codeOf(await coverageOf('trial', '&npcId=ada'))).toBe('SCHEMA_INVALID');
      expect(codeOf(await running.api.get('/rules/house/coverage?replayId=r-unknown'))).toBe('REPLAY_NOT_FOUND');
      expect(tried.samples[0]).toMatchObject({
        ...{ npcId: 'ada', kind: 'newlyRefused', was: { valid: true, action: { type: 'GIVE' } } },
        would: { valid: false, code: 'RULE_REFUSED', dialogue: 'It is ours.' },
      });
      const turnId = tried.samples[1]?.turnId;
      expect((await run('/npcs/ada/replays', { rules: strict, turnId })).turns).toMatchObject({ checked: 1 });
      expect((await run('/replays', { rules: strict, instead: 'house' })).turns).toMatchObject({ different: 5 });
      expect((await run('/replays', { rules: strict, instead: 'rpg' })).turns).toMatchObject({ checked: 0 });
      expect((await run('/replays', { rulesetId: 'house' })).turns).toMatchObject({ checked: 10, different: 0 });
      const other = await run('/npcs/ada/replays', { outputs: [{ turnId, generatedOutput: 'Go away.' }] });
      expect(other).toMatchObject({ trial: false, differences: { otherAction: 1 }, turns: { different: 1 } });
      expect((ok(await running.api.get('/rules')).body as unknown[]).length).toBe(1);
    });

    it('are refused if they are impossible [1.2x, 10.3b, 10.3d, 10.3e, 10.3r, 10.3u]', async () => {
      const refusal = async (path: string, body: object): Promise<unknown> => {
        const reply = await running.api.post(path, body);
        return [reply.status, codeOf(reply)];
      };
      expect(await refusal('/npcs/nobody/replays', {})).toEqual([404, 'NPC_NOT_FOUND']);
      expect(await refusal('/replays', { rulesetId: 'none' })).toEqual([404, 'RULESET_NOT_FOUND']);
      expect(await refusal('/replays', { rulesetId: 'house', rules: strict })).toEqual([400, 'SCHEMA_INVALID']);
      expect(await refusal('/replays', { instead: 'house' })).toEqual([400, 'SCHEMA_INVALID']);
      expect(await refusal('/replays', { rules: strict, instead: 'others' })).toEqual([404, 'RULESET_NOT_FOUND']);
      expect(await refusal('/replays', { since: 'yesterday' })).toEqual([400, 'SCHEMA_INVALID']);
      for (const path of ['/replays', '/npcs/ada/replays'])
        for (const [member, meant] of [
          ['ruleSetId', 'rulesetId'],
          ['insteadOf', 'instead'],
          ['constructor', undefined],
        ] as const) {
          const body = JSON.parse(`{"rulesetId": "house", ${JSON.stringify(member)}: "house"}`) as object;
          const { status, body: answer } = await running.api.post(path, body);
          expect([status, answer], member).toMatchObject([
            422,
            { error: { code: 'MEMBER_UNKNOWN', details: { problems: [{ pointer: `/${member}` }] } } },
          ]);
          expect((answer as RefusedMember).error.details.problems[0]?.meant).toBe(meant);
        }
      const pattern = { rulesetRules: [{ ruleObsPattern: '(', ruleAction: 'FORBID *' }] };
      expect(await refusal('/replays', { rules: pattern })).toEqual([422, 'PATTERN_INVALID']);
      const long = [{ turnId: 't', generatedOutput: 'x'.repeat(524_288) }];
      expect(await refusal('/replays', { outputs: long })).toEqual([413, 'EVENTS_TOO_LARGE']);
      const outputs = Array.from({ length: 1_001 }, () => ({ turnId: 't', generatedOutput: '' }));
      expect(await refusal('/replays', { outputs })).toEqual([400, 'SCHEMA_INVALID']);
      const npcIds = Array.from({ length: 1_001 }, (_, at) => `n${String(at)}`);
      expect(await refusal('/replays', { npcIds })).toEqual([400, 'SCHEMA_INVALID']);
      const most = await run('/replays', { npcIds: npcIds.slice(1), outputs: outputs.slice(1) });
      expect(most).toMatchObject({ status: 'completed', minds: 0 });
      const gone = await running.api.get('/replays/r0_0_aaaaaaaaaaaaaaaa');
      expect([gone.status, codeOf(gone)]).toEqual([404, 'REPLAY_NOT_FOUND']);
    });

    it('belong to their studio and to their mind [1.3j, 10.3r]', async () => {
      const { replayId } = await run('/npcs/ada/replays');
      expect((await running.api.get(`/replays/${replayId}`)).status).toBe(200);
      expect(codeOf(await running.api.get(`/npcs/bo/replays/${replayId}`))).toBe('REPLAY_NOT_FOUND');
      const { key } = ok(await running.api.post('/tenants', { tenantId: 'others' }), 201).body as { key: string };
      const others = patientApiOf(running.server.url, key);
      const theirs = [await others.get(`/replays/${replayId}`), await others('DELETE', `/replays/${replayId}`)];
      expect(theirs.map((reply) => [reply.status, codeOf(reply)])).toEqual([
        [404, 'REPLAY_NOT_FOUND'],
        [404, 'REPLAY_NOT_FOUND'],
      ]);
    });

    it('can be cancelled, and keep their results so far [10.3i]', async () => {
      const path = `/replays/${(ok(await running.api.post('/replays'), 202).body as Replay).replayId}`;
      const cancelled = ok(await running.api('DELETE', path)).body as Replay;
      expect(['cancelled', 'completed']).toContain(cancelled.status);
      expect(ok(await running.api('DELETE', path)).body).toEqual(cancelled);
      expect(await over(path)).toEqual(cancelled);
    });

    it('continue after kill -9 with the same results [10.3g]', async () => {
      const historyOf = async (): Promise<string> => ok(await running.api.get('/npcs/ada/history?limit=500')).text;
      const before = await historyOf();
      const whole = await run('/replays', { rules: strict });
      const { replayId } = ok(await running.api.post('/replays', { rules: strict }), 202).body as Replay;
      await running.server.restart('kill');
      running.again();
      const again = await over(`/replays/${replayId}`);
      const { replayId: _one, startedAt: _at, endedAt: _to, ...found } = whole as Replay & Record<string, unknown>;
      expect(again).toMatchObject(found);
      expect(await historyOf()).toBe(before);
    }, 300_000);

    it('decide by the rules that were in force at the time, also of archived NPCs [10.3b, 10.3c, 10.3d]', async () => {
      const npcId = 'earlier';
      const later = { ...house, rulesetRules: [...house.rulesetRules, ...strict.rulesetRules] };
      await play(npcId, 2);
      ok(await running.api.post('/rules', later));
      await play(npcId, 1);
      const one = await run(`/npcs/${npcId}/replays`);
      expect(one.turns).toEqual({ checked: 6, equal: 6, different: 0, skipped: 0 });
      const trial = await run(`/npcs/${npcId}/replays`, { rulesetId: 'house' });
      expect(trial.turns.different).toBeGreaterThan(0);
      expect((await run(`/npcs/${npcId}/replays`, { rules: strict, instead: 'house' })).turns.checked).toBe(6);
      const path = `/rules/house/coverage?replayId=${trial.replayId}`;
      const { version } = ok(await running.api.get(path)).body as { readonly version: number };
      ok(await running.api('DELETE', `/npcs/${npcId}`));
      expect(ok(await running.api.post('/rules', house)).body).toMatchObject({ version: version + 1 });
      // The version was fixed at acceptance.
      expect(ok(await running.api.get(path)).body).toMatchObject({ version });
      expect(await run('/replays')).toMatchObject({ turns: { checked: 16, equal: 16 } });
    });
  });
};
