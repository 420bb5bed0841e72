import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { type CoverageQuery, recordedCoverage } from '../../../src/features/replays/recorded-coverage.js';
import type { DirectiveRuleSet } from '../../../src/features/rules/domain/ruleset.js';
import { rulesetDigest } from '../../../src/features/rules/ruleset-digest.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { appendNext } from '../../support/append-next.js';
import { directiveGiven, recorded, turnOpened, verdict } from '../../support/histories.js';
import { turnsDuring } from '../../support/turns.js';

const TENANT = 'studio';
const START_MS = Date.parse('2026-01-01T00:00:00.000Z');
const ruleset = { rulesetId: 'watch', version: 3 };
const set: DirectiveRuleSet = {
  ...{ ...ruleset, template: null },
  rulesetRules: [
    {
      ...{ drRuleId: 'peace', ruleName: 'Peace', ruleCondition: [], ruleAction: 'FORBID ATTACK', ruleReason: '' },
      ...{ ruleTarget: null, rulePriority: 1, ruleObsPattern: 'x', rulePromptSuffix: null },
    },
  ],
};
const rules = [{ drRuleId: 'peace', matched: true }];
const turnOf = (revision: number) => makeProcessId('t', revision, START_MS, String(revision));
const having = (event: EventDraft, data: object): EventDraft => ({
  ...event,
  data: { ...event.data, ...data },
});
const directive = having(directiveGiven('d1'), { ruleset, rules });
const decided = (turnId: string): EventDraft =>
  having(verdict(turnId, true), { grounds: { rules, seen: [], checks: [] } });

const storeOf = async (minds: Readonly<Record<string, readonly EventDraft[]>>): Promise<MemoryEventStore> => {
  const store = new MemoryEventStore();
  for (const [npcId, told] of Object.entries(minds)) {
    const stream = npcStream(TENANT, npcId);
    const events = recorded(stream, told);
    for (let at = 0; at < events.length; at += 500) await appendNext(store, stream, events.slice(at, at + 500));
  }
  return store;
};

const asked = (npcIds: readonly string[], more: Partial<CoverageQuery> = {}): CoverageQuery => ({
  ...{ tenant: TENANT, set, times: {} },
  minds: async function* (from) {
    for (const npcId of npcIds.slice(from === undefined ? 0 : npcIds.indexOf(from))) yield await Promise.resolve(npcId);
  },
  ...more,
});

describe('the recorded coverage', () => {
  it('counts a verdict under the rules of its turn’s opening, wherever that is', async () => {
    const [mine, others] = [turnOf(0), turnOf(1)];
    const events = await storeOf({
      ada: [
        turnOpened(mine, { ruleset }),
        ...[turnOpened(others, { ruleset: { ...ruleset, version: 2 } }), decided(others), decided(mine)],
        ...[having(decided('v1'), { asked: { observation: '', npcState: {}, ruleset } }), decided('t-unknown')],
      ],
    });
    const whole = await recordedCoverage({ events }, asked(['ada']));
    expect(whole).toMatchObject({ decisions: 2, rules: [{ fired: 2, use: 'fired' }] });
    expect(whole.rules[0]?.samples.map(({ turnId, revision }) => [turnId, revision])).toEqual([
      [mine, 3],
      ['v1', 4],
    ]);
    // One second passes between two events.
    const late = await recordedCoverage(
      { events },
      asked(['ada'], { times: { sinceMs: START_MS + 3_000, untilMs: START_MS + 3_000 } }),
    );
    expect(late.rules[0]?.samples.map(({ turnId }) => turnId)).toEqual([mine]);
  });

  it('counts only decisions by the content of the set, where the record has its digest [10.11h]', async () => {
    const digest = await rulesetDigest(set);
    const [mine, other] = [turnOf(0), turnOf(1)];
    const events = await storeOf({
      ada: [
        ...[
          turnOpened(mine, { ruleset: { ...ruleset, digest } }),
          turnOpened(other, { ruleset: { ...ruleset, digest: 'x' } }),
        ],
        ...[decided(mine), decided(other), directive],
      ],
    });
    const { decisions, rules: counted } = await recordedCoverage({ events }, asked(['ada']));
    expect(decisions).toBe(2);
    expect(counted[0]?.samples.map(({ revision }) => revision)).toEqual([2, 4]);
  });

  it('counts a rule that replaced the model’s action, and its errors [5.6i, 10.11g]', async () => {
    const turnId = turnOf(0);
    const requiring: DirectiveRuleSet = {
      ...{ ...ruleset, template: null, grammar: 2 },
      rulesetRules: set.rulesetRules.map((rule) => ({ ...rule, ruleAction: 'REQUIRE FLEE', ruleOnBreak: 'replace' })),
    };
    const conditions = [{ key: 'hp', expected: '<5', holds: false, error: 'it is no number' }];
    const grounds = {
      rules: [{ drRuleId: 'peace', matched: false, conditions }],
      seen: [],
      checks: [],
      replacedBy: 'peace',
    };
    const fled = having(verdict(turnId, true), {
      grounds,
      verdict: { valid: true, dialogue: '', action: { type: 'FLEE', target: '' }, stateDelta: {}, memoryStore: [] },
    });
    const events = await storeOf({ ada: [turnOpened(turnId, { ruleset }), fled] });
    const covered = await recordedCoverage({ events }, asked(['ada'], { set: requiring }));
    expect(covered.rules).toMatchObject([{ fired: 1, decided: 1, errors: 1, use: 'decided' }]);
  });

  it('is returned in parts whose counts add up, and yields to other work [10.11e]', async () => {
    const count = 12_000;
    const many = Array.from({ length: count }, () => directive);
    const minds = ['ada', 'bea', 'cleo'];
    const events = await storeOf({ ada: many, bea: many, cleo: [directive] });
    const parts: number[] = [];
    const turns = await turnsDuring(async () => {
      let at: CoverageQuery['at'];
      do {
        const part = await recordedCoverage({ events }, asked(minds, at === undefined ? {} : { at }));
        parts.push(part.rules[0]?.fired ?? 0);
        at = part.next;
      } while (at !== undefined);
    });
    expect(parts).toEqual([20_000, 4_001]);
    expect(turns).toBeGreaterThan(40);
  });

  it('yields after each mind, however few events it has', async () => {
    const minds = Array.from({ length: 400 }, (_, n) => `mind-${String(n)}`);
    const events = await storeOf({ 'mind-0': [directive] });
    expect(await turnsDuring(() => recordedCoverage({ events }, asked(minds)))).toBeGreaterThan(300);
  });

  it('reads a bounded number of minds at a time [10.11e]', async () => {
    const minds = Array.from({ length: 501 }, (_, n) => `mind-${String(n)}`);
    const events = await storeOf({ 'mind-500': [directive] });
    const part = await recordedCoverage({ events }, asked(minds));
    expect(part).toMatchObject({ decisions: 0, next: { npcId: 'mind-500', from: 0 } });
    const { next: at } = part;
    expect(await recordedCoverage({ events }, asked(minds, at === undefined ? {} : { at }))).toMatchObject({
      decisions: 1,
    });
  });
});
