import { describe, expect, it } from 'vitest';

import type { ExpectedVerdict, RuleCase } from '../../../../../src/features/turns/domain/rule-tests/rule-case.js';
import { runRuleCase } from '../../../../../src/features/turns/domain/rule-tests/run-rule-case.js';
import { normaliseRuleset } from '../../../../../src/features/rules/domain/normalise.js';
import type { Json, JsonObject } from '../../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../../src/kernel/base/rejection.js';
import { drained } from '../../../../../src/kernel/base/sliced.js';

const setOf = (body: JsonObject) => {
  const content = drained(normaliseRuleset(body, () => 'set'));
  if (content instanceof Rejection) throw content;
  return { ...content, version: 1 };
};
const guard = setOf({
  rulesetRules: [
    {
      ...{ drRuleId: 'attacked', ruleCondition: [['facts.attacked', 'true']], ruleAction: 'REQUIRE ATTACK' },
      ...{ ruleTarget: 'player', ruleOnBreak: 'replace', ruleRefusal: 'To arms!', rulePriority: 9 },
    },
    {
      drRuleId: 'ring',
      ruleObsPattern: 'ring',
      ruleAction: 'FORBID GIVE',
      ruleReason: 'It stays.',
      ruleRefusal: 'No.',
    },
    { drRuleId: 'night', ruleCondition: [['context.hour', '>=22']], ruleAction: 'FORBID SELL' },
    { drRuleId: 'poor', ruleCondition: [['gold', '<5']], ruleAction: 'FORBID BUY' },
  ],
});
const gives: RuleCase = {
  ...{ name: 'gives', state: {}, npcState: {}, facts: {}, context: {}, observation: 'Your ring, please.' },
  ...{ output: '{"dialogue": "Here.", "action": {"type": "GIVE", "target": "player"}}', expected: { valid: false } },
};
const run = (one: Partial<RuleCase>) => drained(runRuleCase(guard, { ...gives, ...one }));
const differencesOf = (expected: ExpectedVerdict, one: Partial<RuleCase> = {}) => run({ ...one, expected }).differences;

describe('a case', () => {
  it('compares only what it names [5.10g]', () => {
    expect(run({})).toEqual({
      ...{ name: 'gives', passed: true, differences: [], notes: ['Refused by ring: It stays.'] },
    });
    const refused = {
      valid: false,
      reason: 'It stays.',
      drRuleId: 'ring',
      dialogue: 'No.',
      stateDelta: {},
      matched: ['ring'],
    };
    expect(differencesOf(refused)).toEqual([]);
    expect(
      differencesOf({
        ...{
          valid: true,
          action: { type: 'GIVE', target: 'player' },
          reason: 'x',
          drRuleId: 'night',
          dialogue: 'Here.',
        },
        ...{ stateDelta: { a: 1 }, replacedBy: 'ring', matched: [] },
      }),
    ).toEqual([
      { member: 'valid', expected: true, actual: false },
      { member: 'action.type', expected: 'GIVE', actual: undefined },
      { member: 'action.target', expected: 'player', actual: undefined },
      { member: 'reason', expected: 'x', actual: 'It stays.' },
      { member: 'drRuleId', expected: 'night', actual: 'ring' },
      { member: 'dialogue', expected: 'Here.', actual: 'No.' },
      { member: 'stateDelta', expected: { a: 1 }, actual: {} },
      { member: 'replacedBy', expected: 'ring', actual: undefined },
      { member: 'matched', expected: [], actual: ['ring'] },
    ]);
  });

  it('is decided by its state, facts, context and observation [5.10a, 5.10e]', () => {
    const output = (type: string) => JSON.stringify({ dialogue: 'So be it.', action: { type, target: 'player' } });
    expect(differencesOf({ valid: true, action: { type: 'GIVE' } }, { observation: 'Your hat.' })).toEqual([]);
    const sells = { output: output('SELL') };
    expect(differencesOf({ valid: false, drRuleId: 'night' }, { ...sells, context: { hour: 23 } })).toEqual([]);
    expect(differencesOf({ valid: true }, { ...sells, context: { hour: 12 } })).toEqual([]);
    const buys = { output: output('BUY') };
    expect(differencesOf({ valid: false, drRuleId: 'poor' }, { ...buys, state: { gold: 4 } })).toEqual([]);
    expect(differencesOf({ valid: true }, { ...buys, state: { gold: 5 } })).toEqual([]);
    const attack = {
      valid: true,
      action: { type: 'ATTACK', target: 'player' },
      replacedBy: 'attacked',
      dialogue: 'To arms!',
    };
    expect(differencesOf(attack, { facts: { attacked: true } })).toEqual([]);
  });

  it('tells what was left out of the change of the state [5.10h]', () => {
    const output = '{"dialogue": "Mine.", "stateDelta": {"gold": 99, "mood": "glad"}}';
    expect(run({ output, expected: { valid: true, stateDelta: { mood: 'glad' } } })).toMatchObject({
      passed: true,
      notes: ['Not allowed to change gold: Only the game changes it.'],
    });
  });

  it('compares the payload, in any order of names, and expects none with null [5.10g]', () => {
    const waves = { output: '{"action": {"type": "WAVE", "payload": {"a": 1, "b": [{"c": 2}]}}}' };
    const payloadOf = (payload: Json, one: Partial<RuleCase> = waves) =>
      differencesOf({ valid: true, action: { payload } }, one);
    expect(payloadOf({ b: [{ c: 2 }], a: 1 })).toEqual([]);
    expect(payloadOf({ a: 1 })).toEqual([
      { member: 'action.payload', expected: { a: 1 }, actual: { a: 1, b: [{ c: 2 }] } },
    ]);
    expect(payloadOf(null)).toHaveLength(1);
    expect(payloadOf(null, { output: '{"action": {"type": "WAVE"}}' })).toEqual([]);
  });

  it('sees the state of the request in the rules, and changes the recorded one [5.10e]', () => {
    const one = { state: { gold: 9, mood: 'sad' }, npcState: { gold: 1, mood: 'calm' } };
    const buys = { ...one, output: '{"action": {"type": "BUY"}}' };
    expect(differencesOf({ valid: false, drRuleId: 'poor' }, buys)).toEqual([]);
    expect(differencesOf({ valid: true }, { ...buys, npcState: {} })).toEqual([]);
    const same = { ...one, output: '{"dialogue": "Hm.", "stateDelta": {"gold": 9}}' };
    expect(run({ ...same, expected: { valid: true } }).notes).toEqual([]);
    expect(run({ ...same, output: same.output.replace('9', '1'), expected: { valid: true } }).notes).toEqual([
      'Not allowed to change gold: Only the game changes it.',
    ]);
  });
});
