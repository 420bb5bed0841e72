import { celRoots, type CelRoots, decideCel, valueOf } from './cel/decide-cel.js';
import type { CelExpression } from './cel/read-cel.js';
import type { Seen } from '../key-tree.js';
import { type Match, type Matched, ranked, type RuleFacts } from '../matched.js';
import { type DirectiveRule, type DirectiveRuleSet, onlyDescribes, type RuleEffect } from '../ruleset.js';
import type { ConditionTrace, RuleTrace } from '../rules-trace.js';
import { traceOf } from '../trace.js';
import { strictEffectOf } from '../action-words.js';
import { defined } from '../../../../kernel/base/defined.js';
import type { Json } from '../../../../kernel/base/json.js';
import type { Sliced } from '../../../../kernel/base/sliced.js';
import { type Alternative, testCost } from './alternatives.js';
import { affordsTests, type Effort, fullEffort, spentOf } from './effort.js';
import { type FittingElement, countTested, someFits, everyElement, narrowed } from './fitting-elements.js';
import { CONDITION_ERRORS, type ConditionOutcome, valueHolds } from './holds.js';
import { lookAround, rootsOf, type Sight } from './look.js';
import type { Path } from './path.js';
import { placesOf, type Places } from './places.js';
import { isProblem } from './problem.js';
import { CEL_KEY, isCel, readCondition, readConditions } from './read-condition.js';

/** A condition of a set, and where in the set's paths it looks. */
type StrictCondition = {
  readonly key: string;
  readonly expected: string;
  /** Null for a condition that cannot be read. Such a set is not registered. */
  readonly test: Test | CelExpression | null;
};
type Test = {
  readonly path: Path;
  readonly alternatives: readonly Alternative[];
  /** How many tests each value takes; one with a long number counts for several. */
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
  readonly hasCel: boolean;
  readonly rules: readonly StrictRule[];
  readonly byRank: readonly (StrictRule & Match)[];
  readonly places: Places;
};

/** Rulesets are immutable, so the prepared form stays valid for the lifetime of its ruleset. */
const ready = new WeakMap<DirectiveRuleSet, StrictSet>();

/** The conditions of rules that were read before their set is used. */
const readAhead = new WeakMap<DirectiveRule, ReturnType<typeof readConditions>>();
/** How many characters of conditions are read at a time: the first ones of a process take some microseconds each, before the reader is compiled. */
const READ_CHARS = 2_048;

/** Reads the conditions of a set in slices, so that its first decision need not. Each slice reads about READ_CHARS characters. */
export function* readStrict({ rulesetRules }: DirectiveRuleSet): Sliced<void> {
  let chars = 0;
  for (const rule of rulesetRules) {
    if (readAhead.has(rule)) continue;
    for (const pair of rule.ruleCondition) {
      readCondition(pair);
      chars += pair[0].length + pair[1].length;
      if (chars < READ_CHARS) continue;
      yield chars;
      chars = 0;
    }
    // Each pair is known by now.
    readAhead.set(rule, readConditions(rule));
  }
}

const prepare = (ruleset: DirectiveRuleSet): StrictSet => {
  const known = ready.get(ruleset);
  if (known !== undefined) return known;
  const read = ruleset.rulesetRules.map((rule) => readAhead.get(rule) ?? readConditions(rule));
  const places = placesOf(read.flat().flatMap((one) => (isProblem(one) || isCel(one) ? [] : [one.path])));
  const rules = ruleset.rulesetRules.map((rule, position) => ({
    rule,
    effect: strictEffectOf(rule),
    conditions: rule.ruleCondition.map(([key, expected], index) => {
      const one = read[position]?.[index];
      if (one === undefined || isProblem(one)) return { key, expected, test: null };
      if (isCel(one)) return { key, expected, test: one.cel };
      const { path, alternatives } = one;
      const tests = testCost(alternatives);
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
  const hasCel = rules.some(({ conditions }) => conditions.some(({ test }) => isExpression(test)));
  const set = { rules, byRank, places, hasCel };
  ready.set(ruleset, set);
  return set;
};

const isExpression = (test: StrictCondition['test']): test is CelExpression => test !== null && 'run' in test;

/** What one decision looks at, and what it costs. */
type Deciding = {
  readonly sight: Sight;
  /** Null if the set has no conditions in CEL. */
  readonly roots: CelRoots | null;
  readonly isBeforeVerdict: boolean;
  /** The rules that only lack the verdict. */
  readonly pending: Set<DirectiveRule>;
  readonly effort: Effort;
  /** The steps of expressions, which have a bound of their own (RULESET_BOUNDS.celSteps). */
  celWork: number;
};

const NEEDS_VERDICT: readonly string[] = ['action', 'delta', 'after'];

/** Whether a condition looks at what there is only with the verdict. */
const awaitsVerdict = (test: StrictCondition['test']): boolean =>
  isExpression(test) ? test.needsVerdict : test !== null && NEEDS_VERDICT.includes(test.path.root);

/** The outcome of a condition, or the error of an expression. */
type Outcome = ConditionOutcome | { readonly error: string };

const expressionHolds = (expression: CelExpression, deciding: Deciding): Outcome => {
  if (deciding.roots === null) return 'unreadable';
  const { outcome, work } = decideCel(expression, deciding.roots);
  deciding.celWork += work;
  return outcome;
};

const errorOf = (outcome: Outcome): string | undefined => {
  if (typeof outcome === 'object') return outcome.error;
  return outcome === 'yes' || outcome === 'no' ? undefined : CONDITION_ERRORS[outcome];
};

/** The outcomes of a rule's conditions. With the same letter, each one looks only at the elements that satisfied those before it. */
const outcomesOf = (rule: StrictRule, deciding: Deciding): readonly Outcome[] => {
  const { effort } = deciding;
  const byLetter = new Map<string, readonly FittingElement[]>();
  return rule.conditions.map(({ test }): Outcome => {
    if (test === null) return 'unreadable';
    if (deciding.isBeforeVerdict && awaitsVerdict(test)) return 'no';
    if (isExpression(test)) return expressionHolds(test, deciding);
    const view = deciding.sight.at[test.at];
    if (view === undefined) return 'unreadable';
    if (view === null) return 'tooMuch';
    const letter = test.path.letter?.name;
    if (letter === undefined) {
      return affordsTests(effort, test.tests * view.values.length) ? valueHolds(view, test.alternatives) : 'tooMuch';
    }
    const elements = deciding.sight.inElements(test.elements);
    if (elements === null) return 'tooMuch';
    const fitting = byLetter.get(letter) ?? everyElement(elements);
    if (!affordsTests(effort, test.tests * countTested(fitting, elements))) return 'tooMuch';
    const left = narrowed(fitting, elements, test.alternatives);
    byLetter.set(letter, left);
    return someFits(left, view.reached.isCut);
  });
};

/** An error never permits: a rule that forbids matches in spite of it, and no other rule does. */
const isMet = (outcome: Outcome, { effect }: StrictRule): boolean =>
  outcome === 'yes' || (outcome !== 'no' && effect.kind === 'forbid');

const traceRule = (rule: StrictRule, held: ReadonlySet<string>, deciding: Deciding): RuleTrace => {
  const outcomes = outcomesOf(rule, deciding);
  const conditions = rule.conditions.map(({ key, expected }, index) => {
    const outcome = outcomes[index] ?? 'unreadable';
    return { key, expected, holds: outcome === 'yes', ...defined({ error: errorOf(outcome) }) };
  });
  const patternHolds = rule.hasPattern ? held.has(rule.rule.drRuleId) : undefined;
  const awaits = (index: number): boolean => awaitsVerdict(rule.conditions[index]?.test ?? null);
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
    ?.slice(0, SHOWN_ELEMENTS)
    .flatMap((view): readonly Json[] => view?.values ?? []);
  return { values: values ?? [], listed: true };
};

/** What every key of a set looked at. */
const seenWith = (
  rules: readonly StrictRule[],
  { sight, roots }: Deciding,
): { readonly seen: ReadonlyMap<string, Seen>; readonly keysOf: (condition: ConditionTrace) => readonly string[] } => {
  const seen = new Map<string, Seen>();
  const read = new Map<string, readonly string[]>();
  for (const { key, expected, test } of rules.flatMap(({ conditions }) => conditions)) {
    if (!isExpression(test)) {
      if (test !== null && !seen.has(key)) seen.set(key, seenBy(test, sight));
      continue;
    }
    if (roots === null || read.has(expected)) continue;
    read.set(
      expected,
      test.reads.map((one) => one.key),
    );
    for (const one of test.reads) {
      const value = valueOf(roots, one);
      if (!seen.has(one.key)) seen.set(one.key, { values: value === undefined ? [] : [value], listed: false });
    }
  }
  const keysOf = ({ key, expected }: ConditionTrace): readonly string[] =>
    key === CEL_KEY ? (read.get(expected) ?? []) : [key];
  return { seen, keysOf };
};

/** Matches every rule of a set of grammar 2 against these facts. Pure; TRACE_BYTES bounds the trace, and DECISION_EFFORT the work. */
export const matchStrict = (ruleset: DirectiveRuleSet, facts: RuleFacts): Matched => {
  const { rules, byRank, places, hasCel } = prepare(ruleset);
  const effort = fullEffort();
  const sight = lookAround(places, facts, effort);
  const isBeforeVerdict = (facts.action ?? null) === null;
  const roots = hasCel ? celRoots(rootsOf(facts)) : null;
  const deciding: Deciding = { sight, roots, isBeforeVerdict, pending: new Set(), effort, celWork: 0 };
  const held = new Set(facts.patternsHeld);
  const traced = new Map(rules.map((rule) => [rule.rule, traceRule(rule, held, deciding)]));
  const { seen, keysOf } = seenWith(rules, deciding);
  const pending = deciding.isBeforeVerdict ? byRank.filter(({ rule }) => deciding.pending.has(rule)) : [];
  return {
    matches: byRank.filter(({ rule }) => traced.get(rule)?.matched === true),
    ...(pending.length === 0 ? {} : { pending }),
    trace: traceOf([...traced.values()], seen, keysOf),
    work: spentOf(effort) + deciding.celWork,
  };
};
