import { describe, expect, it } from 'vitest';

import { normaliseRuleset } from '../../../../src/features/rules/domain/normalise.js';
import { memberWarnings } from '../../../../src/features/rules/domain/warnings.js';
import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import { allWarnings, allSlices } from '../../../support/rules.js';

const register = (body: JsonObject) => allSlices(normaliseRuleset(body, () => 'made')).result;
const problemsOf = (body: JsonObject): readonly JsonObject[] => {
  const refused = register(body);
  if (!(refused instanceof Rejection)) return [];
  expect(refused.code).toBe('RULES_INVALID');
  return refused.details['problems'] as readonly JsonObject[];
};
const registered = (body: JsonObject) => {
  const content = register(body);
  if (content instanceof Rejection) throw content;
  return content;
};
const warned = (body: JsonObject): readonly string[] => {
  const content = registered(body);
  return [...allWarnings(content), ...memberWarnings(body, content)].map(({ message }) => message);
};
const ruleOf = (members: JsonObject): JsonObject => ({ rulesetRules: [{ ruleAction: 'FLEE', ...members }] });
const text = expect.any(String) as string;

describe('a set of grammar 2', () => {
  it('is the default, and is stored with its grammar; one of grammar 1 is stored as before [5.5a]', () => {
    for (const grammar of [{}, { grammar: null }, { grammar: 2 }])
      expect(registered(grammar)).toMatchObject({ grammar: 2 });
    expect(registered({ grammar: 1 })).toEqual({ rulesetId: 'made', rulesetRules: [], template: null });
  });

  it('is refused with every problem: the rule, the place, and what was meant [5.5b]', () => {
    const body = {
      ruleTemplate: 'Raw',
      rulesetRules: [
        {
          ruleCondition: [
            ['hp', '5'],
            ['bag[0]', '≥5'],
            ['age', '>=18,<99'],
          ],
          ruleAction: 'DENY SELL',
        },
        {
          drRuleId: 'b',
          ruleCondition: [
            ['bag[x].id', 'a'],
            ['chest[x].id', 'b'],
            ['mood', 'any(not calm)'],
          ],
        },
      ],
    };
    expect(problemsOf(body)).toEqual([
      { drRuleId: 'rule-1', pointer: '/rulesetRules/0/ruleCondition/1/0', message: text, meant: 'bag.0' },
      {
        drRuleId: 'rule-1',
        pointer: '/rulesetRules/0/ruleCondition/2/1',
        message: text,
        meant: '["age",">=18"], ["age","<99"]',
      },
      { drRuleId: 'rule-1', pointer: '/rulesetRules/0/ruleAction', message: text, meant: 'FORBID SELL' },
      { drRuleId: 'b', pointer: '/rulesetRules/1/ruleCondition/1/0', message: text },
      { drRuleId: 'b', pointer: '/rulesetRules/1/ruleCondition/2/1', message: text, meant: 'any(!=calm)' },
    ]);
  });

  it('is refused for a misspelt root, unless a state rule declares a member with this name [5.5h]', () => {
    const set = ruleOf({ ruleCondition: [['stat.hp', '5']] });
    const refused = [
      { drRuleId: 'rule-1', pointer: '/rulesetRules/0/ruleCondition/0/0', message: text, meant: 'state.hp' },
    ];
    expect(problemsOf(set)).toEqual(refused);
    expect(problemsOf({ ...set, ruleState: [{ path: '*', writer: 'game' }] })).toEqual(refused);
    expect(problemsOf({ ...set, ruleState: [{ path: 'stat.hp', writer: 'game' }] })).toEqual([]);
    expect(warned({ ...set, grammar: 1 })).toEqual([expect.stringContaining('Perhaps state.hp was meant')]);
  });

  it('is refused with at most 100 problems, and the number of the others [5.5b]', () => {
    const refused = register({ rulesetRules: Array.from({ length: 130 }, () => ({ ruleCondition: [['hp', '=5']] })) });
    expect((refused as Rejection).details).toMatchObject({ problemsLeftOut: 30 });
    expect(
      problemsOf({ rulesetRules: Array.from({ length: 130 }, () => ({ ruleCondition: [['hp', '=5']] })) }),
    ).toHaveLength(100);
  });

  it.each<[name: string, meant: string]>([
    ['condition', 'ruleCondition'],
    ['conditions', 'ruleCondition'],
    ['ruleConditions', 'ruleCondition'],
    ['ruleConditon', 'ruleCondition'],
    ['RULECONDITION', 'ruleCondition'],
    ['rule_condition', 'ruleCondition'],
    ['action', 'ruleAction'],
    ['reason', 'ruleReason'],
    ['target', 'ruleTarget'],
    ['priority', 'rulePriority'],
    ['rulePiority', 'rulePriority'],
    ['pattern', 'ruleObsPattern'],
    ['rulePromtSufix', 'rulePromptSuffix'],
    ['drRuleID', 'drRuleId'],
  ])('is refused for a member of a rule that resembles a known one: %s [5.5e]', (name, meant) => {
    expect(problemsOf(ruleOf({ [name]: 'x' }))).toEqual([
      { drRuleId: 'rule-1', pointer: `/rulesetRules/0/${name}`, message: text, meant },
    ]);
  });

  it.each<[name: string, meant: string]>([
    ['rules', 'rulesetRules'],
    ['ruleSetRules', 'rulesetRules'],
    ['templat', 'template'],
    ['gramar', 'grammar'],
    ['ID', 'id'],
  ])('is refused for a member of the set that resembles a known one: %s [5.5e]', (name, meant) => {
    expect(problemsOf({ [name]: 'x' })).toEqual([{ drRuleId: '', pointer: `/${name}`, message: text, meant }]);
  });

  it('gets a warning for any other unknown member [5.5e]', () => {
    expect(warned({ ...ruleOf({ comment: 'why', 'a/b~c': 1 }), note: 'x' })).toEqual([
      expect.stringContaining('"note"'),
      expect.stringContaining('"comment"'),
      expect.stringContaining('"a/b~c"'),
    ]);
    expect(warned({ grammar: 1, ...ruleOf({ condition: [] }) })).toEqual([
      expect.stringContaining('Perhaps ruleCondition was meant'),
    ]);
  });

  it('has every member of an answer, which can be sent back [5.5e]', () => {
    const answer = { ...registered(ruleOf({ drRuleId: 'a' })), version: 3, warnings: [], id: 'made' } as JsonObject;
    expect(warned(answer)).toEqual([]);
    expect(warned({ ruleName: 'n', ruleDescription: 'd', ruleActionTypes: ['MOVE'] })).toEqual([]);
  });

  it('is refused beyond 200 different unknown names, which are not compared [5.5e]', () => {
    const names = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`zz${n}qq`, 1]));
    expect(problemsOf(ruleOf(names))).toEqual([{ drRuleId: '', pointer: '', message: text }]);
    const few = Object.fromEntries(Object.entries(names).slice(0, 200));
    expect(warned({ rulesetRules: Array.from({ length: 50 }, () => ({ ruleAction: 'FLEE', ...few })) })).toHaveLength(
      100,
    );
  });

  it('takes an empty string for null [5.5f]', () => {
    const empty = ruleOf({ ruleTarget: '', ruleObsPattern: '', rulePromptSuffix: '', drRuleId: '', ruleReason: '' });
    const none = ruleOf({
      ruleTarget: null,
      ruleObsPattern: null,
      rulePromptSuffix: null,
      drRuleId: null,
      ruleReason: null,
    });
    expect(registered({ ...empty, template: '', rulesetId: '' })).toEqual(registered(none));
    expect(registered({ ...empty, grammar: 1 }).rulesetRules[0]).toMatchObject({ ruleTarget: '', ruleObsPattern: '' });
  });

  it('is refused for a condition that is no pair', () => {
    const pairs = [['hp', '5'], 'mood', { a: 1 }] as Json;
    expect(problemsOf(ruleOf({ ruleCondition: pairs }))).toEqual([
      { drRuleId: 'rule-1', pointer: '/rulesetRules/0/ruleCondition', message: text },
    ]);
  });
});

describe('a set of grammar 1', () => {
  it('gets a warning for what grammar 2 would refuse [5.5c]', () => {
    const rule = {
      ruleCondition: [
        ['hp', '>=5,<8'],
        ['mood', '==calm'],
        ['npcState.hp', '5'],
      ],
      ruleAction: 'FLEE',
    };
    expect(warned({ grammar: 1, rulesetRules: [rule] })).toEqual([
      expect.stringContaining('exact text'),
      expect.stringContaining('leave out "npcState."'),
      expect.stringMatching(
        /^Grammar 2 refuses ruleCondition\/0\/1\. .*Perhaps \["hp",">=5"\], \["hp","<8"\] was meant/,
      ),
    ]);
  });
});

describe('a rule of grammar 2 that forbids if something is different', () => {
  const about = (key: string, value: string, ruleAction = 'FORBID OPEN') =>
    warned(ruleOf({ ruleCondition: [[key, value]], ruleAction })).filter((message) => !message.includes('ruleState'));

  it.each([
    ['questDone', '!=true'],
    ['context.player.id', '!=5|6'],
    ['facts.x', '!=1'],
    ['action.target', '!=orc'],
  ])('gets a warning how to cover what is missing: %s %s [5.5o]', (key, value) => {
    expect(about(key, value)).toEqual([
      expect.stringContaining(`write !|${value}; for a list without such an element, none(${value.slice(2)})`),
    ]);
  });

  it.each([
    ['questDone', '!|!=true'],
    ['questDone', 'none(true)'],
    ['questDone', 'false'],
    ['action.type', '!=SELL'],
    ['bag[x].id', '!=a'],
    ['gold', '<5'],
  ])('gets none if that is covered, or cannot be: %s %s', (key, value) => {
    expect(about(key, value)).toEqual([]);
  });

  it('is the only kind that gets one', () => {
    for (const action of ['ALLOW OPEN', 'OPEN', 'be kind']) expect(about('questDone', '!=true', action)).toEqual([]);
  });
});
