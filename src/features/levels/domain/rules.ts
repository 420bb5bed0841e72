import { isClientId } from '../../../kernel/base/client-id.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { readJsonSlices } from '../../../kernel/base/read-json.js';
import { whyRefused } from '../../../kernel/base/refuse-json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { cutText } from '../../../kernel/base/text.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { normaliseRuleset } from '../../rules/domain/normalise.js';
import { problemText } from '../../rules/domain/conditions/problem.js';
import type { RulesetProblem } from '../../rules/domain/problems.js';
import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';

/** The bounds of `POST /rules`. */
const MAX_RULES = 1_000;
const MAX_CONDITIONS = 64;
/** The version of a ruleset in a level: levels have versions, their rulesets do not. */
const LEVEL_RULES_VERSION = 1;
/** The limit of the reason for refusing the rules, in UTF-16 units. */
const REASON_CHARS = 500;

const TEXTS = ['drRuleId', 'ruleName', 'ruleAction', 'ruleReason', 'ruleTarget', 'ruleObsPattern', 'rulePromptSuffix'];

const isText = (value: Json | undefined): boolean => typeof value === 'string' && value.isWellFormed();
const isScalar = (value: Json | undefined): boolean =>
  isText(value) || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

const isCondition = (pair: Json): boolean =>
  Array.isArray(pair) && pair.length === 2 && (pair as readonly Json[]).every(isScalar);

const wrongInRule = (rule: JsonObject): string | null => {
  const { ruleCondition: conditions, rulePriority: priority } = rule;
  const text = TEXTS.find((name) => !isAbsent(rule[name]) && !isText(rule[name]));
  if (text !== undefined) return `${text} must be a string`;
  if (!isAbsent(priority) && !Number.isInteger(priority)) return 'rulePriority must be a whole number';
  if (isAbsent(conditions)) return null;
  const pairs = Array.isArray(conditions) ? (conditions as readonly Json[]) : null;
  return pairs !== null && pairs.length <= MAX_CONDITIONS && pairs.every(isCondition)
    ? null
    : `ruleCondition must be a list of at most ${MAX_CONDITIONS} pairs of a key and a value`;
};

/** The error in the shape of a ruleset, as `POST /rules` would report it; null if there is none. */
const wrongInSet = (set: JsonObject): string | null => {
  const { rulesetRules: rules } = set;
  if (!Array.isArray(rules) || rules.length > MAX_RULES)
    return `rulesetRules must be a list of at most ${MAX_RULES} rules`;
  for (const [at, rule] of (rules as readonly Json[]).entries()) {
    const wrong = isObject(rule) ? wrongInRule(rule) : 'it must be an object';
    if (wrong !== null) return `rule ${at + 1}: ${wrong}`;
  }
  const { grammar = null } = set;
  if (grammar !== null && grammar !== 1 && grammar !== 2) return 'grammar must be 1 or 2';
  const id = ['rulesetId', 'id'].find((name) => !isAbsent(set[name]));
  return id === undefined || (isText(set[id]) && isClientId(set[id] as string)) ? null : `${id} is not a valid ID`;
};

/** A refusal as a sentence: the first problem if it lists several. */
const whyRefusedRules = ({ message, details }: Rejection): string => {
  const [first] = (details['problems'] ?? []) as readonly RulesetProblem[];
  return first === undefined ? message : `${first.pointer}: ${problemText(first)}`;
};

const parsedBefore = (text: string): JsonObject | string => {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : 'The value is not an object.';
  } catch {
    return 'The value cannot be parsed.';
  }
};

/** The object in a text, or the error, as a sentence. */
function* parsed(text: string): Sliced<JsonObject | string> {
  try {
    const { value } = yield* readJsonSlices(Buffer.from(text));
    return isObject(value) ? value : 'The value is not an object.';
  } catch (error) {
    return whyRefused(error);
  }
}

/**
 * The rules that a level gives to a mind: the JSON text of a body of `POST /rules`, with rulesetRules, under the same bounds.
 * @param rulesetId the id for a ruleset that names none
 * @param accepted the map was accepted before: a text that JSON.parse reads then keeps its meaning
 * @returns the ruleset, or a sentence that says what to change
 */
export function* readLevelRules(
  text: string,
  rulesetId: string,
  accepted: boolean,
): Sliced<DirectiveRuleSet | { readonly problem: string }> {
  const set = accepted ? parsedBefore(text) : yield* parsed(text);
  if (typeof set === 'string')
    return {
      problem: `The rules cannot be read: the property "rules" must be the JSON of a ruleset, {"rulesetRules": [...]}. ${set}`,
    };
  const wrong = wrongInSet(set);
  if (wrong !== null) return { problem: `The rules cannot be used: ${wrong}.` };
  // Stored maps keep their meaning, so without a grammar it is the first. With a list of rules, members of the short form have no effect.
  const named = {
    ...set,
    rulesetId: set['rulesetId'] ?? set['id'] ?? rulesetId,
    rulesetRules: set['rulesetRules'] ?? [],
    template: set['template'] ?? null,
    grammar: set['grammar'] ?? 1,
  };
  const content = yield* normaliseRuleset(named, () => rulesetId);
  if (content instanceof Rejection)
    return { problem: `The rules cannot be used: ${cutText(whyRefusedRules(content), REASON_CHARS)}` };
  return { ...content, version: LEVEL_RULES_VERSION };
}
