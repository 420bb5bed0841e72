import type { RuleTrace } from '../npc/events.js';
import { isObject, type Json } from '../shared/json.js';
import { cutText } from '../shared/text.js';
import { parseCondition, type Condition, type RuleFacts } from './condition.js';
import { effectOf, onlyDescribes, type RuleEffect } from './effect.js';
import { compilePattern, type Pattern } from './pattern.js';
import type { DirectiveRule, DirectiveRuleSet } from './ruleset.js';

/** A rule that matched, with what it says. */
export type Match = { readonly rule: DirectiveRule; readonly effect: RuleEffect };
/** `matches` by priority, ties by position, so the first one wins; `traces` of every rule by position. */
export type Matched = { readonly matches: readonly Match[]; readonly traces: readonly RuleTrace[] };

type ReadyRule = {
  readonly rule: DirectiveRule;
  readonly effect: RuleEffect;
  readonly conditions: readonly Condition[];
  /** Null when the rule has none; a pattern that does not compile never holds. */
  readonly pattern: Pattern | null;
  readonly describes: boolean;
};
type ReadySet = { readonly rules: readonly ReadyRule[]; readonly byRank: readonly ReadyRule[] };

/** Sets are immutable, so what was made of one stays right for as long as it is held. */
const ready = new WeakMap<DirectiveRuleSet, ReadySet>();

const never: Pattern = { test: () => false };

const patternOf = (source: string | null): Pattern | null => {
  if (source === null || source === '') return null;
  const compiled = compilePattern(source);
  return 'pattern' in compiled ? compiled.pattern : never;
};

const prepare = (ruleset: DirectiveRuleSet): ReadySet => {
  const known = ready.get(ruleset);
  if (known !== undefined) return known;
  const rules = ruleset.rulesetRules.map((rule) => ({
    rule,
    effect: effectOf(rule),
    conditions: rule.ruleCondition.map(parseCondition),
    pattern: patternOf(rule.ruleObsPattern),
    describes: onlyDescribes(rule),
  }));
  const set = { rules, byRank: rules.toSorted((left, right) => right.rule.rulePriority - left.rule.rulePriority) };
  ready.set(ruleset, set);
  return set;
};

/** How much of a seen value a trace keeps. */
const SEEN_CHARS = 200;
const SEEN_MEMBERS = 16;
const SEEN_DEPTH = 3;

const brief = (seen: Json, depth = SEEN_DEPTH): Json => {
  if (typeof seen === 'string') return cutText(seen, SEEN_CHARS);
  if (Array.isArray(seen)) {
    return depth === 0
      ? '…'
      : (seen as readonly Json[]).slice(0, SEEN_MEMBERS).map((element) => brief(element, depth - 1));
  }
  if (isObject(seen)) {
    if (depth === 0) return '…';
    const members = Object.entries(seen).slice(0, SEEN_MEMBERS);
    return Object.fromEntries(members.map(([name, member]) => [cutText(name, SEEN_CHARS), brief(member, depth - 1)]));
  }
  return seen;
};

const trace = (rule: ReadyRule, facts: RuleFacts): RuleTrace => {
  const conditions = rule.conditions.map((condition) => {
    const seen = condition.look(facts);
    return {
      key: condition.key,
      expected: condition.expected,
      seen: seen === undefined ? null : brief(seen),
      holds: condition.holds(seen),
    };
  });
  const patternHolds = rule.pattern?.test(facts.observation);
  return {
    drRuleId: rule.rule.drRuleId,
    matched: !rule.describes && patternHolds !== false && conditions.every(({ holds }) => holds),
    conditions,
    ...(patternHolds === undefined ? {} : { patternHolds }),
  };
};

const nothing: Matched = { matches: [], traces: [] };

/**
 * Holds every rule of a set against what is known (contract 2.8). Pure; a trace shows each condition with the value it saw
 * (shortened when large, null when missing).
 */
export const matchRules = (ruleset: DirectiveRuleSet | null, facts: RuleFacts): Matched => {
  if (ruleset === null) return nothing;
  const { rules, byRank } = prepare(ruleset);
  const traced = new Map(rules.map((rule) => [rule, trace(rule, facts)]));
  return { matches: byRank.filter((rule) => traced.get(rule)?.matched === true), traces: [...traced.values()] };
};
