import { Type } from '@sinclair/typebox';

import { ClientId, nullable } from '../../kernel/http/schemas.js';

const Pair = Type.Array(Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] }), {
  minItems: 2,
  maxItems: 2,
});
const Rule = Type.Object({
  drRuleId: nullable(Type.String()),
  ruleName: nullable(Type.String()),
  ruleCondition: nullable(Type.Array(Pair, { maxItems: 64, description: 'Pairs [key, value]; all must match.' })),
  ruleAction: nullable(Type.String()),
  ruleReason: nullable(Type.String()),
  ruleTarget: nullable(Type.String()),
  rulePriority: nullable(Type.Integer()),
  ruleObsPattern: nullable(Type.String({ description: 'RE2, case-insensitive.' })),
  rulePromptSuffix: nullable(Type.String()),
});
/** A ruleset as it is registered. */
export const RulesBody = Type.Object({
  rulesetId: nullable(ClientId),
  id: nullable(ClientId),
  rulesetRules: nullable(Type.Array(Rule, { maxItems: 1_000 })),
  template: nullable(Type.String({ description: 'Raw, ChatML, Llama3 or Alpaca' })),
  ruleName: nullable(Type.String()),
  ruleDescription: nullable(Type.String()),
  ruleActionTypes: nullable(Type.Array(Type.String(), { maxItems: 64 })),
});
