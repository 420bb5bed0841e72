import { Type } from '@sinclair/typebox';

import { named } from '../../kernel/http/named.js';
import { ClientId, nullable } from '../../kernel/http/schemas.js';

const Pair = Type.Array(Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] }), {
  minItems: 2,
  maxItems: 2,
});
const Rule = named(
  'RegisteredRule',
  Type.Object({
    drRuleId: nullable(Type.String()),
    ruleName: nullable(Type.String()),
    ruleCondition: nullable(
      Type.Array(Pair, { maxItems: 64, description: 'Pairs of a key and a value; all of them must match.' }),
    ),
    ruleAction: nullable(
      Type.String({ description: '`REQUIRE`, `ALLOW` or `FORBID` with action types, or a sentence for the prompt.' }),
    ),
    ruleReason: nullable(Type.String()),
    ruleTarget: nullable(Type.String()),
    rulePriority: nullable(Type.Integer({ description: 'The highest matching rule decides.' })),
    ruleObsPattern: nullable(Type.String({ description: 'An RE2 pattern for the observation, case-insensitive.' })),
    rulePromptSuffix: nullable(Type.String({ description: 'Added to the prompt while the rule matches.' })),
  }),
);
/** A rule set as it is registered. */
export const RulesBody = named(
  'RegisterRulesRequest',
  Type.Object({
    rulesetId: nullable(ClientId),
    id: nullable(Type.String({ ...ClientId, description: 'The same as `rulesetId`, which wins.' })),
    rulesetRules: nullable(Type.Array(Rule, { maxItems: 1_000 })),
    grammar: nullable(
      Type.Unsafe<1 | 2>({
        type: 'integer',
        enum: [1, 2],
        description: 'How conditions and actions are read; 2 by default.',
      }),
    ),
    template: nullable(Type.String({ description: '`Raw`, `ChatML`, `Llama3` or `Alpaca`.' })),
    ruleName: nullable(Type.String()),
    ruleDescription: nullable(Type.String()),
    ruleActionTypes: nullable(Type.Array(Type.String(), { maxItems: 64 })),
  }),
);
