import { describe, expect, it } from 'vitest';

import { checkRuleset } from '../../../src/features/rules/check-ruleset.js';
import { findPreset, presetIds } from '../../../src/features/rules/domain/presets/presets.js';
import type { Json, JsonObject } from '../../../src/kernel/base/json.js';
import { drained } from '../../../src/kernel/base/sliced.js';

const check = (body: JsonObject) => drained(checkRuleset(body));
const ofRule = (rule: JsonObject): JsonObject => ({ rulesetRules: [{}, { drRuleId: 'b', ...rule }] });

describe('a check of a set', () => {
  it.each<[set: JsonObject, code: string, drRuleId: string, pointer: string, meant?: string]>([
    [ofRule({ rulePriority: '10' }), 'SCHEMA_INVALID', 'b', '/rulesetRules/1/rulePriority', '10'],
    [ofRule({ ruleCondition: 'hp' }), 'SCHEMA_INVALID', 'b', '/rulesetRules/1/ruleCondition'],
    [
      ofRule({ ruleCondition: ['action.payload.price', '>=30'] }),
      ...(['SCHEMA_INVALID', 'b', '/rulesetRules/1/ruleCondition', '[["action.payload.price", ">=30"]]'] as const),
    ],
    [ofRule({ ruleCondition: ['hp', 5] }), 'SCHEMA_INVALID', 'b', '/rulesetRules/1/ruleCondition', '[["hp", 5]]'],
    [ofRule({ ruleCondition: [['hp', '5'], 'x'] }), 'SCHEMA_INVALID', 'b', '/rulesetRules/1/ruleCondition/1'],
    [{ grammar: 3 }, 'SCHEMA_INVALID', '', '/grammar'],
    [{ rulesetRules: [{ rulePriority: 'high' }] }, 'SCHEMA_INVALID', 'rule-1', '/rulesetRules/0/rulePriority'],
    [{ rulesetId: 'a/b' }, 'ID_INVALID', '', '/rulesetId'],
    [{ template: 'Chat' }, 'TEMPLATE_INVALID', '', '/template'],
    [{ rulesetRules: [{ drRuleId: 'a' }, { drRuleId: 'a' }] }, 'RULE_ID_REPEATED', 'a', '/rulesetRules/1/drRuleId'],
    [ofRule({ ruleObsPattern: '(' }), 'PATTERN_INVALID', 'b', '/rulesetRules/1/ruleObsPattern'],
    [ofRule({ ruleAction: 'DENY SELL' }), 'RULES_INVALID', 'b', '/rulesetRules/1/ruleAction', 'FORBID SELL'],
    [ofRule({ ruleCondition: [['k', 'x'.repeat(1_100)]] }), 'RULESET_TOO_LARGE', '', ''],
  ])('says where and why the set would be refused: %j [5.13b]', (set, code, drRuleId, pointer, meant) => {
    const { problems, ...found } = check(set);
    expect(found).toMatchObject({ code, warnings: [], findings: [], judged: 0, notJudged: [] });
    expect(problems).toEqual([
      {
        drRuleId,
        pointer,
        message: expect.stringMatching(/^["A-Z][^]*[.]$/) as string,
        ...(meant === undefined ? {} : { meant }),
      },
    ]);
  });

  it('has the warnings of a registration, and what was found [5.13b]', () => {
    const set = { rulesetId: 'x', rulesetRules: [{ drRuleId: 'a', note: 1 }, { ruleAction: 'FORBID *', rulePriority: 1 }, { ruleAction: 'ALLOW SELL' }] }; // prettier-ignore
    expect(check(set)).toMatchObject({
      grammar: 2,
      problems: [],
      warnings: [{ drRuleId: 'a' }],
      findings: [{ kind: 'shadowed', drRuleIds: ['rule-3', 'rule-2'] }],
      judged: 3,
    });
    expect(check({ rulesetRules: Array.from({ length: 150 }, () => ({ ruleAction: 'FORBID *' })) })).toMatchObject({
      findings: { length: 100 },
      findingsLeftOut: 49,
    });
  });

  it.each([null, 1, 'x', [], {}].map((value): [Json] => [value]))(
    'answers whatever a set holds: %j [5.13a]',
    (value) => {
      for (const name of ['rulesetId', 'rulesetRules', 'grammar', 'ruleState', 'template', '__proto__', 'constructor'])
        expect(check(Object.fromEntries([[name, value]]))).toHaveProperty('problems');
      for (const name of ['drRuleId', 'ruleCondition', 'ruleAction', 'rulePriority', 'ruleObsPattern', '__proto__'])
        expect(check({ rulesetRules: [Object.fromEntries([[name, value]]), value] })).toHaveProperty('problems');
    },
  );

  it.each(presetIds())('finds nothing in a preset: %s [5.13d]', (presetId) => {
    const preset = findPreset(presetId) as unknown as JsonObject;
    expect(check(preset)).toMatchObject({ problems: [], warnings: [], findings: [], notJudged: [] });
  });
});
