import type { RuleTrace } from './rules-trace.js';
import { parseCondition, countTests, type Test } from './condition.js';
import { type DirectiveRule, type DirectiveRuleSet, effectOf, onlyDescribes, type RuleEffect } from './ruleset.js';
import { type Match, type Matched, ranked, type RuleFacts } from './matched.js';
import { matchStrict } from './conditions/match-strict.js';
import { ARRAY_ELEMENTS, ROOT_PARTS, buildKeyTree, lookUp, type KeyTree, type Seen } from './key-tree.js';
import { RULESET_BOUNDS } from './ruleset-size.js';
import { traceOf } from './trace.js';
import { defined } from '../../../kernel/base/defined.js';

/** How many values one part of a key may look at in the largest ruleset: an array's elements, and the arrays that contain them. */
const PART_THINGS = ARRAY_ELEMENTS + 24;
/**
 * How many values one decision may look at and test, over all conditions of a ruleset: as much as the largest ruleset needs with arrays of 1,000
 * elements.
 */
export const DECISION_WORK = (RULESET_BOUNDS.conditions + 2 * (RULESET_BOUNDS.keyParts + ROOT_PARTS)) * PART_THINGS;
/** How many values one part of a key may look at in even the smallest ruleset: arrays inside arrays count together. */
const MOST_PART_THINGS = 10 * PART_THINGS;

type ReadyCondition = { readonly key: string; readonly expected: string; readonly tests: number; readonly test: Test };
type ReadyRule = {
  readonly rule: DirectiveRule;
  readonly effect: RuleEffect;
  readonly conditions: readonly ReadyCondition[];
  readonly hasPattern: boolean;
  readonly describes: boolean;
};
type ReadySet = {
  readonly rules: readonly ReadyRule[];
  readonly byRank: readonly (ReadyRule & Match)[];
  readonly keys: KeyTree;
  /** How many values each part of a key may look at: more than ARRAY_ELEMENTS in small rulesets, for arrays inside arrays. */
  readonly limit: number;
};

/** Rulesets are immutable, so the prepared form stays valid for the lifetime of its ruleset. */
const ready = new WeakMap<DirectiveRuleSet, ReadySet>();

const prepare = (ruleset: DirectiveRuleSet): ReadySet => {
  const known = ready.get(ruleset);
  if (known !== undefined) return known;
  const rules = ruleset.rulesetRules.map((rule) => ({
    rule,
    effect: effectOf(rule),
    conditions: rule.ruleCondition.map((pair) => ({
      key: pair[0],
      expected: pair[1],
      tests: countTests(pair[1]),
      test: parseCondition(pair),
    })),
    hasPattern: (rule.ruleObsPattern ?? '') !== '',
    describes: onlyDescribes(rule),
  }));
  const conditions = rules.flatMap((rule) => rule.conditions);
  const keys = buildKeyTree(conditions.map(({ key }) => key));
  const tests = conditions.reduce((sum, condition) => sum + condition.tests, 0);
  const set = {
    rules,
    byRank: ranked(rules),
    keys,
    limit: Math.min(MOST_PART_THINGS, Math.floor(DECISION_WORK / (2 * keys.parts.length + tests))),
  };
  ready.set(ruleset, set);
  return set;
};

const missing: Seen = { values: [], listed: false };

const traceRule = (rule: ReadyRule, seen: ReadonlyMap<string, Seen>, held: ReadonlySet<string>): RuleTrace => {
  const conditions = rule.conditions.map(({ key, expected, test }) => ({
    key,
    expected,
    holds: test(seen.get(key) ?? missing),
  }));
  const patternHolds = rule.hasPattern ? held.has(rule.rule.drRuleId) : undefined;
  return {
    drRuleId: rule.rule.drRuleId,
    matched: !rule.describes && patternHolds !== false && conditions.every(({ holds }) => holds),
    ...(conditions.length === 0 ? {} : { conditions }),
    ...defined({ patternHolds }),
  };
};

/** The outcome without rules. */
const nothing: Matched = { matches: [], trace: { rules: [], seen: [] }, work: 0 };

/** Matches every rule of a set of grammar 1. */
const matchLenient = (ruleset: DirectiveRuleSet, facts: RuleFacts): Matched => {
  const { rules, byRank, keys, limit } = prepare(ruleset);
  const { seen, work } = lookUp(keys, facts, limit);
  const held = new Set(facts.patternsHeld);
  const traced = new Map(rules.map((rule) => [rule.rule, traceRule(rule, seen, held)]));
  const tested = rules
    .flatMap((rule) => rule.conditions)
    .reduce((sum, { key, tests }) => sum + tests * (seen.get(key)?.values.length ?? 0), 0);
  return {
    matches: byRank.filter(({ rule }) => traced.get(rule)?.matched === true),
    trace: traceOf([...traced.values()], seen),
    work: work + tested,
  };
};

/** Matches every rule of a ruleset against these facts, as its grammar says. Pure; TRACE_BYTES bounds the trace. */
export const matchRules = (ruleset: DirectiveRuleSet | null, facts: RuleFacts): Matched => {
  if (ruleset === null) return nothing;
  return ruleset.grammar === 2 ? matchStrict(ruleset, facts) : matchLenient(ruleset, facts);
};
