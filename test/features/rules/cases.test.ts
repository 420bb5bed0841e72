import { describe, expect, it } from 'vitest';

import type { Action } from '../../../src/features/rules/domain/bridge/action.js';
import { brokenBy } from '../../../src/features/rules/domain/bridge/refusal.js';
import { matchRules } from '../../../src/features/rules/domain/match.js';
import { normaliseRuleset } from '../../../src/features/rules/domain/normalise.js';
import type { Json, JsonObject } from '../../../src/kernel/base/json.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { observationLine } from '../../../src/features/turns/domain/decision/observation-line.js';
import { allWarnings, allSlices, heldBy } from '../../support/rules.js';

/** Sets as designers wrote them in reports of bugs: one condition each. */
const setOf = (pair: readonly [string, string], ruleAction = 'FORBID TRADE'): JsonObject => ({
  rulesetId: 'case',
  rulesetRules: [{ ruleName: 'r', ruleCondition: [pair], ruleAction, ruleReason: 'REFUSED', rulePriority: 5 }],
});
const register = (body: JsonObject) => allSlices(normaliseRuleset(body, () => 'case')).result;
/** Whether an action is refused. */
const refuses = (
  body: JsonObject,
  facts: { npcState?: JsonObject; context?: Json },
  action: Action = { type: 'TRADE' },
): boolean => {
  const content = register(body);
  if (content instanceof Rejection) throw content;
  const around = { npcState: {}, context: {}, ...facts, action: { target: '', ...action }, patternsHeld: [] };
  return brokenBy(matchRules({ ...content, version: 1 }, around).matches, action) !== null;
};
const problems = (body: JsonObject) => (register(body) as Rejection).details['problems'];
const warningsIn = (body: JsonObject) => {
  const content = register(body);
  return content instanceof Rejection ? [] : allWarnings(content).map(({ message }) => message);
};
/** Without those about who writes what the rules read. */
const warnings = (body: JsonObject) => warningsIn(body).filter((message) => !message.includes('ruleState'));

describe('a set from a report of a bug', () => {
  it('has alternatives with spaces around them [5.5l]', () => {
    const hours = setOf(['hour', '>=22 | <6']);
    expect([23, 3, 12].map((hour) => refuses(hours, { npcState: { hour } }))).toEqual([true, true, false]);
    const classes = setOf(['cls', 'mage | bard']);
    expect(['mage', 'bard', 'thief'].map((cls) => refuses(classes, { npcState: { cls } }))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('is refused where it could not mean what was meant [5.5b, 5.5m, 5.5p]', () => {
    const pointer = '/rulesetRules/0/ruleCondition/0/1';
    expect(problems(setOf(['cls', '!=mage|!=bard']))).toMatchObject([
      { drRuleId: 'rule-1', pointer, meant: '!=mage|bard' },
    ]);
    expect(problems(setOf(['rep', '>=+5']))).toMatchObject([{ drRuleId: 'rule-1', pointer, meant: '>=5' }]);
  });

  it('forbids every action with FORBID ALL [5.6b]', () => {
    const all = setOf(['x', '1'], 'FORBID ALL');
    for (const type of ['TRADE', 'SPEAK', 'IDLE']) expect(refuses(all, { npcState: { x: 1 } }, { type })).toBe(true);
    expect(refuses(all, { npcState: { x: 2 } })).toBe(false);
  });

  it('keeps ids apart that differ in their last digit [5.5r]', () => {
    const [owner, other] = ['76561198140718655', '76561198140718656'];
    const meets = (set: JsonObject, id: Json) => refuses(set, { context: { player: { id } } });
    const banned = setOf(['context.player.id', owner]);
    expect([meets(banned, owner), meets(banned, other)]).toEqual([true, false]);
    const shop = setOf(['context.player.id', `!=${owner}`]);
    expect([meets(shop, owner), meets(shop, other)]).toEqual([false, true]);
  });

  it('cannot tell ids apart that JSON has rounded, and forbids [5.5t, 5.5u]', () => {
    const id = JSON.parse('76561198140718656') as number;
    for (const value of ['76561198140718655', '!=76561198140718655'])
      expect(refuses(setOf(['context.player.id', value]), { context: { player: { id } } })).toBe(true);
  });

  it('gets a warning if an absent flag would open the way [5.5o]', () => {
    const flag = setOf(['questDone', '!=true']);
    expect(warnings(flag)).toEqual([expect.stringContaining('!|!=true')]);
    expect(refuses(flag, {})).toBe(false);
    const covered = setOf(['questDone', '!|!=true']);
    expect([{}, { questDone: false }, { questDone: true }].map((npcState) => refuses(covered, { npcState }))).toEqual([
      true,
      true,
      false,
    ]);
    expect(warnings(covered)).toEqual([]);
  });

  it('gets a warning for each member that it reads and the model may write, until it says who does [5.8i]', () => {
    const gate = setOf(['questDone', '!|!=true'], 'FORBID OPEN_GATE');
    expect(warningsIn(gate)).toEqual([
      expect.stringContaining('The rule reads questDone, which the model may change.'),
    ]);
    for (const ruleState of [
      [{ path: 'questDone', writer: 'game' }],
      [{ path: '*', writer: 'model', type: 'boolean' }],
    ])
      expect(warningsIn({ ...gate, ruleState })).toEqual([]);
    expect(warningsIn(setOf(['after.vault.0.open', 'true']))).toEqual([
      expect.stringContaining('The rule reads vault.0.open, which the model may change.'),
    ]);
    const vault = { ruleState: [{ path: 'vault.open', writer: 'game' }] };
    expect(warningsIn({ ...setOf(['after.vault.0.open', 'true']), ...vault })).toEqual([]);
    expect(warningsIn(setOf(['hp', '<5']))).toEqual([]);
    expect(warningsIn(setOf(['context.hour', '<5']))).toEqual([]);
  });

  it('finds with its pattern what the prompt shows, however it is written [5.5v]', () => {
    const content = register({
      rulesetId: 'case',
      rulesetRules: [{ ruleAction: 'FORBID TRADE', ruleObsPattern: 'free gold' }],
    });
    if (content instanceof Rejection) throw content;
    const set = { ...content, version: 1 };
    for (const said of [
      'Free gold?',
      `${'x'.repeat(9_000)} free gold`,
      'free\ngold',
      'free\u200bgold',
      'free\u0000gold',
    ])
      expect(heldBy(set, observationLine(set, said)), said.slice(0, 20)).toHaveLength(1);
    for (const hidden of ['free golf', `${'x'.repeat(16_000)} free gold`])
      expect(heldBy(set, observationLine(set, hidden))).toEqual([]);
  });

  it('gets a warning if an absent list would open the way [5.5o]', () => {
    const item = setOf(['inventory', '!=gate_key']);
    expect(warnings(item)).toEqual([expect.stringContaining('none(gate_key)')]);
    expect(refuses(item, {})).toBe(false);
    const covered = setOf(['inventory', 'none(gate_key)']);
    const states: readonly JsonObject[] = [
      {},
      { inventory: [] },
      { inventory: ['lamp'] },
      { inventory: ['lamp', 'gate_key'] },
    ];
    expect(states.map((npcState) => refuses(covered, { npcState }))).toEqual([true, true, true, false]);
    expect(warnings(covered)).toEqual([]);
  });
});
