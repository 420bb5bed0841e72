import { expect, it } from 'vitest';

import { apiOf } from '../support/api.js';
import { openEmbeddedServer } from '../support/embedded-server.js';

it('A server shows how turns end, what is open, how old its checkpoint is, and how full its disk is', async () => {
  await using server = await openEmbeddedServer();
  const api = apiOf(server.url, server.ownerKey);
  const forbid = [{ drRuleId: 'no', ruleAction: 'FORBID GIVE', ruleReason: 'It is ours.' }];
  await api.post('/rules', { rulesetId: 'strict', rulesetRules: forbid });
  const give = { observation: 'Hello.', generatedOutput: '{"dialogue": "Here.", "action": {"type": "GIVE"}}' };
  await api.post('/npcs/mira/verdict', give);
  await api.post('/npcs/mira/verdict', { ...give, rulesetId: 'strict' });
  await api.post('/npcs/mira/process', { tape: { observation: 'Hello.' } });
  const metrics = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text();
  const before = await metrics();
  expect(before).not.toContain('\nanima_checkpoint_age_seconds ');
  await api.post('/audit/checkpoints', {});
  const text = await metrics();
  const figure = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? NaN);
  expect(figure('anima_verdicts_total\\{outcome="valid"\\}')).toBe(1);
  expect(figure('anima_verdicts_total\\{outcome="refused"\\}')).toBe(1);
  expect(figure('anima_rule_refusals_total')).toBe(1);
  expect(figure('anima_open_turns')).toBe(1);
  expect(figure('anima_open_turn_age_seconds')).toBeLessThan(60);
  expect(figure('anima_checkpoint_age_seconds')).toBeLessThan(60);
  expect(figure('anima_checkpoint_hand_on_failures_total')).toBe(0);
  expect(figure('anima_event_store_bytes')).toBeGreaterThan(4_096);
  expect(figure('anima_disk_free_bytes')).toBeGreaterThan(1_000_000);
});
