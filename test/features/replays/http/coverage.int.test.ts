import { afterEach, expect, it } from 'vitest';

import { coverageRoutes } from '../../../../src/features/replays/http/coverage.js';
import type { RulesetUsed } from '../../../../src/features/rules/domain/ruleset.js';
import { rulesetDigest } from '../../../../src/features/rules/ruleset-digest.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import { appendNext } from '../../../support/append-next.js';
import { directiveGiven, recorded } from '../../../support/histories.js';
import { startApp, type TestApp } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { MemoryEventStore } from '../../../support/memory/event-store.js';
import { aRuleset } from '../../../support/rules.js';

let app: TestApp;
afterEach(() => app.stop());

it('the coverage of rules continues with the same version, whatever is registered meanwhile [10.11e, 10.11h]', async () => {
  const events = new MemoryEventStore();
  const stream = npcStream('local', 'ada');
  const { type, data } = directiveGiven('d1');
  const rules = [{ drRuleId: 'r1', matched: true }];
  const directive = { type, data: { ...data, ruleset: { rulesetId: 'watch', version: 3 }, rules } };
  const all = recorded(
    stream,
    Array.from({ length: 20_001 }, () => directive),
  );
  for (let at = 0; at < all.length; at += 500) await appendNext(events, stream, all.slice(at, at + 500));
  let latest = 3;
  const setOf = (version: number) => ({ ...aRuleset([{ ruleAction: 'IDLE' }]), rulesetId: 'watch', version });
  const asked: object[] = [];
  const rulesets = {
    deciding: () => Promise.resolve(setOf(latest)),
    asked: (_: string, ref: RulesetUsed) => {
      asked.push(ref);
      return Promise.resolve(setOf(ref.version));
    },
  };
  const clock = new ManualClock();
  app = await startApp(coverageRoutes({ ports: { events, clock }, rulesets } as never), { clock });
  const first = (await app.get('/rules/watch/coverage?npcId=ada')).body;
  expect(first).toMatchObject({ version: 3, decisions: 20_000, next: expect.any(String) as string });
  latest = 4;
  const rest = (await app.get(`/rules/watch/coverage?npcId=ada&cursor=${String(first.next)}`)).body;
  expect(rest).toMatchObject({ version: 3, decisions: 1, rules: [{ fired: 1 }] });
  expect(rest).not.toHaveProperty('next');
  const earlier = Buffer.from('3 0 ada').toString('base64url');
  expect((await app.get(`/rules/watch/coverage?npcId=ada&cursor=${earlier}`)).body).toMatchObject({ version: 3 });
  const ref = { rulesetId: 'watch', version: 3 };
  expect(asked).toEqual([{ ...ref, digest: await rulesetDigest(setOf(3)) }, ref]);
});
