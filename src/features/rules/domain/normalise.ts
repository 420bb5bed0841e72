import { Rejection } from '../../../kernel/base/rejection.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { readActions } from './actions/read-actions.js';
import { readOwnPrompt } from './prompt/read-own-prompt.js';
import { searchableChars } from './pattern.js';
import { readStateRules } from './state-rules/read-state-rules.js';
import { problemsOf, rulesInvalid } from './problems.js';
import { checkRulesetSize } from './ruleset-size.js';
import { templates, type DirectiveRule, type Grammar, type RulesetContent, type Template } from './ruleset.js';

/** A member as a string: other scalars as their JSON text, everything else as absent. */
const textOf = (value: Json | undefined): string | null => {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? JSON.stringify(value) : null;
};

const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);
const texts = (value: Json | undefined): readonly string[] => list(value).flatMap((one) => textOf(one) ?? []);
const text = (body: JsonObject, name: string): string => textOf(body[name]) ?? '';
/** In grammar 2 the empty string is null. */
const optional = (body: JsonObject, name: string, grammar: Grammar): string | null => {
  const value = textOf(body[name]);
  return value === '' && grammar === 2 ? null : value;
};

const condition = (pair: Json): readonly [string, string][] => {
  const [key, value] = list(pair);
  const name = textOf(key);
  return name === null ? [] : [[name, textOf(value) ?? '']];
};

/** What only rules of grammar 2 have; `problemsOf` refuses other values. */
const strictMembersOf = (body: JsonObject): Pick<DirectiveRule, 'ruleOnBreak' | 'ruleRefusal'> => ({
  ...(body['ruleOnBreak'] === 'replace' ? { ruleOnBreak: 'replace' } : {}),
  ...refusalOf(body),
});

const refusalOf = (body: JsonObject): { readonly ruleRefusal?: string } => {
  const { ruleRefusal } = body as { readonly ruleRefusal?: Json };
  return typeof ruleRefusal === 'string' && ruleRefusal !== '' ? { ruleRefusal } : {};
};

const ruleOf = (body: JsonObject, position: number, grammar: Grammar): DirectiveRule => {
  const priority = body['rulePriority'];
  const description = textOf(body['ruleDescription']);
  const types = texts(body['ruleActionTypes']);
  return {
    drRuleId: text(body, 'drRuleId') || `rule-${position + 1}`,
    ruleName: text(body, 'ruleName'),
    ruleCondition: list(body['ruleCondition']).flatMap(condition),
    ruleAction: text(body, 'ruleAction'),
    ruleReason: text(body, 'ruleReason'),
    ruleTarget: optional(body, 'ruleTarget', grammar),
    rulePriority: typeof priority === 'number' ? Math.trunc(priority) : 0,
    ruleObsPattern: optional(body, 'ruleObsPattern', grammar),
    rulePromptSuffix: optional(body, 'rulePromptSuffix', grammar),
    ...(description === null ? {} : { ruleDescription: description }),
    ...(types.length === 0 ? {} : { ruleActionTypes: types }),
    ...(grammar === 1 ? {} : strictMembersOf(body)),
  };
};

const POOR_MEMBERS = ['ruleName', 'ruleDescription', 'ruleActionTypes'];

/** The rules of a body. A body in the short form (promise 5.1d) is itself a rule that only describes. */
const rulesOf = (body: JsonObject, grammar: Grammar): readonly DirectiveRule[] => {
  const rules = body['rulesetRules'];
  if (Array.isArray(rules)) {
    return list(rules).map((rule, position) => ruleOf(isObject(rule) ? rule : {}, position, grammar));
  }
  if (!POOR_MEMBERS.some((name) => Object.hasOwn(body, name))) return [];
  const { ruleName, ruleDescription, ruleActionTypes } = body as Partial<Record<string, Json>>;
  return [
    ruleOf(
      {
        ruleName: ruleName ?? null,
        ruleDescription: ruleDescription ?? null,
        ruleActionTypes: ruleActionTypes ?? null,
      },
      0,
      grammar,
    ),
  ];
};

const isTemplate = (value: Json): value is Template => (templates as readonly Json[]).includes(value);

const firstRepeatedId = (rules: readonly DirectiveRule[]): string | undefined => {
  const seen = new Set<string>();
  return rules.map(({ drRuleId }) => drRuleId).find((id) => seen.size === seen.add(id).size);
};

/**
 * Makes a complete ruleset from the body of `POST /rules`. Absent members get their defaults, `rulesetId` takes precedence over `id`, and `makeId`
 * makes an id if neither is given. The route checks whether the id is valid, and that `grammar` is 1 or 2; without it, it is 2. It works in slices,
 * because patterns are compiled. Refuses with TEMPLATE_INVALID, RULE_ID_REPEATED, RULESET_TOO_LARGE, PATTERN_INVALID, or RULES_INVALID in grammar 2.
 * @param at the JSON Pointer of the set in the request
 */
export function* normaliseRuleset(body: JsonObject, makeId: () => string, at = ''): Sliced<RulesetContent | Rejection> {
  const grammar: Grammar = body['grammar'] === 1 ? 1 : 2;
  const named = body['template'] ?? null;
  const template = named === '' && grammar === 2 ? null : named;
  if (template !== null && !isTemplate(template)) return new Rejection('TEMPLATE_INVALID', { details: { template } });
  const rulesetRules = rulesOf(body, grammar);
  const drRuleId = firstRepeatedId(rulesetRules);
  if (drRuleId !== undefined) return new Rejection('RULE_ID_REPEATED', { details: { drRuleId } });
  const size = yield* checkRulesetSize(rulesetRules, grammar);
  if (size instanceof Rejection) return size;
  const content = { rulesetId: text(body, 'rulesetId') || text(body, 'id') || makeId(), rulesetRules, template };
  if (grammar === 1) return content;
  const read = {
    stateRules: readStateRules(body['ruleState']),
    actions: readActions(body['actions']),
    ownPrompt: readOwnPrompt(body['prompt']),
  };
  const problems = yield* problemsOf(body, rulesetRules, read);
  if (problems.length > 0) return rulesInvalid(problems, at);
  const { rules: ruleState } = read.stateRules;
  const { actions } = read.actions;
  const { prompt } = read.ownPrompt;
  return {
    ...content,
    grammar,
    ...refusalOf(body),
    ...(ruleState.length === 0 ? {} : { ruleState }),
    ...(actions === null ? {} : { actions }),
    ...(prompt === null ? {} : { prompt }),
    ...(size.patterns === 0 ? {} : { observationChars: searchableChars(size) }),
  };
}
