import { ARRAY_ELEMENTS, type Seen } from '../key-tree.js';
import { RULESET_BOUNDS } from '../ruleset-size.js';
import { type Match, type Matched, ranked, type RuleFacts } from '../matched.js';
import { type DirectiveRule, type DirectiveRuleSet, onlyDescribes, type RuleEffect } from '../ruleset.js';
import type { RuleTrace } from '../rules-trace.js';
import { traceOf } from '../trace.js';
import { strictEffectOf } from '../action-words.js';
import { defined } from '../../../../kernel/base/defined.js';
import type { Json } from '../../../../kernel/base/json.js';
import { type Alternative, countElementTests } from './alternatives.js';
import { type FittingElement, someFits, everyElement, narrowed } from './fitting-elements.js';
import { CONDITION_ERRORS, type ConditionOutcome, valueHolds } from './holds.js';
import { lookAround, type Sight } from './look.js';
import type { Path } from './path.js';
import { placesOf, type Places, ROOT_STEPS } from './places.js';
import { isProblem } from './problem.js';
import { readConditions } from './read-condition.js';

/** A condition of a set, and where in the set's paths it looks. */
type StrictCondition = {
  readonly key: string;
  readonly expected: string;
  /** Null for a condition that cannot be read. Such a set is not registered. */
  readonly test: Test | null;
};
type Test = {
  readonly path: Path;
  readonly alternatives: readonly Alternative[];
  /** How many tests each value takes. */
  readonly tests: number;
  readonly at: number;
  readonly elements: number;
};
type StrictRule = {
  readonly rule: DirectiveRule;
  readonly effect: RuleEffect;
  readonly conditions: readonly StrictCondition[];
  readonly hasPattern: boolean;
  readonly describes: boolean;
};
type StrictSet = {
  readonly rules: readonly StrictRule[];
  readonly byRank: readonly (StrictRule & Match)[];
  readonly places: Places;
};

/** Rulesets are immutable, so the prepared form stays valid for the lifetime of its ruleset. */
const ready = new WeakMap<DirectiveRuleSet, StrictSet>();

const prepare = (ruleset: DirectiveRuleSet): StrictSet => {
  const known = ready.get(ruleset);
  if (known !== undefined) return known;
  const read = ruleset.rulesetRules.map((rule) => readConditions(rule));
  const places = placesOf(read.flat().flatMap((one) => (isProblem(one) ? [] : [one.path])));
  const rules = ruleset.rulesetRules.map((rule, position) => ({
    rule,
    effect: strictEffectOf(rule),
    conditions: rule.ruleCondition.map(([key, expected], index) => {
      const one = read[position]?.[index];
      if (one === undefined || isProblem(one)) return { key, expected, test: null };
      const { path, alternatives } = one;
      const tests = countElementTests(alternatives);
      return {
        key,
        expected,
        test: { path, alternatives, tests, at: places.endOf(path), elements: places.elementsOf(path) },
      };
    }),
    hasPattern: (rule.ruleObsPattern ?? '') !== '',
    describes: onlyDescribes(rule),
  }));
  const byRank = ranked(rules);
  const set = { rules, byRank, places };
  ready.set(ruleset, set);
  return set;
};

/** What one decision looks at, and what it costs. */
type Deciding = {
  readonly sight: Sight;
  readonly isBeforeVerdict: boolean;
  /** The rules that only lack the verdict. */
  readonly pending: Set<DirectiveRule>;
  tests: number;
};

const NEEDS_VERDICT: readonly string[] = ['action', 'delta', 'after'];

/** The outcomes of a rule's conditions. With the same letter, each one looks only at the elements that satisfied those before it. */
const outcomesOf = (rule: StrictRule, deciding: Deciding): readonly ConditionOutcome[] => {
  const byLetter = new Map<string, readonly FittingElement[]>();
  return rule.conditions.map(({ test }): ConditionOutcome => {
    if (test === null) return 'unreadable';
    if (deciding.isBeforeVerdict && NEEDS_VERDICT.includes(test.path.root)) return 'no';
    const view = deciding.sight.at[test.at];
    if (view === undefined) return 'unreadable';
    const letter = test.path.letter?.name;
    if (letter === undefined) {
      deciding.tests += test.tests * view.values.length;
      return valueHolds(view, test.alternatives);
    }
    const elements = deciding.sight.inElements(test.elements);
    const { left, tested } = narrowed(byLetter.get(letter) ?? everyElement(elements), elements, test.alternatives);
    deciding.tests += test.tests * tested;
    byLetter.set(letter, left);
    return someFits(left, view.reached.isCut);
  });
};

/** An error never permits: a rule that forbids matches in spite of it, and no other rule does. */
const isMet = (outcome: ConditionOutcome, { effect }: StrictRule): boolean =>
  outcome === 'yes' || (outcome !== 'no' && effect.kind === 'forbid');

const traceRule = (rule: StrictRule, held: ReadonlySet<string>, deciding: Deciding): RuleTrace => {
  const outcomes = outcomesOf(rule, deciding);
  const conditions = rule.conditions.map(({ key, expected }, index) => {
    const outcome = outcomes[index] ?? 'unreadable';
    const error = outcome === 'yes' || outcome === 'no' ? undefined : CONDITION_ERRORS[outcome];
    return { key, expected, holds: outcome === 'yes', ...defined({ error }) };
  });
  const patternHolds = rule.hasPattern ? held.has(rule.rule.drRuleId) : undefined;
  const awaits = (index: number): boolean => NEEDS_VERDICT.includes(rule.conditions[index]?.test?.path.root ?? '');
  const isOpen = outcomes.every((outcome, index) => awaits(index) || isMet(outcome, rule));
  if (isOpen && patternHolds !== false && outcomes.some((_, index) => awaits(index))) deciding.pending.add(rule.rule);
  return {
    drRuleId: rule.rule.drRuleId,
    matched: !rule.describes && patternHolds !== false && outcomes.every((outcome) => isMet(outcome, rule)),
    ...(conditions.length === 0 ? {} : { conditions }),
    ...defined({ patternHolds }),
  };
};

/** How many elements of a list are shown at most (trace.ts shows fewer). */
const SHOWN_ELEMENTS = 32;

const seenBy = ({ path, at, elements }: Test, sight: Sight): Seen => {
  if (path.letter === undefined) {
    const { values, isListed } = sight.at[at]?.reached ?? { values: [], isListed: false };
    return { values, listed: isListed };
  }
  const values = sight
    .inElements(elements)
    .slice(0, SHOWN_ELEMENTS)
    .flatMap((view): readonly Json[] => view?.values ?? []);
  return { values, listed: true };
};

/** How many values a step of a path looks at: those before it, and the elements of lists that it opens. */
const STEP_VALUES = 2 * ARRAY_ELEMENTS;
/**
 * How many values one decision by a set of grammar 2 may look at and test: as much as the largest set needs with lists of 1,000 elements.
 * @internal A test compares it with the work of large sets.
 */
export const STRICT_WORK =
  (RULESET_BOUNDS.keyParts + ROOT_STEPS + RULESET_BOUNDS.elementTests) * STEP_VALUES +
  RULESET_BOUNDS.conditions * ARRAY_ELEMENTS;

/** Matches every rule of a set of grammar 2 against these facts. Pure; TRACE_BYTES bounds the trace, and STRICT_WORK the work. */
export const matchStrict = (ruleset: DirectiveRuleSet, facts: RuleFacts): Matched => {
  const { rules, byRank, places } = prepare(ruleset);
  const sight = lookAround(places, facts);
  const isBeforeVerdict = (facts.action ?? null) === null;
  const deciding: Deciding = { sight, isBeforeVerdict, pending: new Set(), tests: 0 };
  const held = new Set(facts.patternsHeld);
  const traced = new Map(rules.map((rule) => [rule.rule, traceRule(rule, held, deciding)]));
  const seen = new Map<string, Seen>();
  for (const { key, test } of rules.flatMap(({ conditions }) => conditions))
    if (test !== null && !seen.has(key)) seen.set(key, seenBy(test, sight));
  const pending = deciding.isBeforeVerdict ? byRank.filter(({ rule }) => deciding.pending.has(rule)) : [];
  return {
    matches: byRank.filter(({ rule }) => traced.get(rule)?.matched === true),
    ...(pending.length === 0 ? {} : { pending }),
    trace: traceOf([...traced.values()], seen),
    work: sight.work() + deciding.tests,
  };
};
