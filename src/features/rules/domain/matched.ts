import type { Surroundings } from './key-tree.js';
import type { RulesTrace } from './rules-trace.js';
import type { DirectiveRule, RuleEffect } from './ruleset.js';

/** The data that a rule can read. `patternsHeld`: the rules whose pattern matches, determined before deciding (hold-patterns.ts). */
export type RuleFacts = Surroundings & { readonly patternsHeld: readonly string[] };

/** A rule that matched, with its effect. `rank`: its place among all rules of its set, 0 for the highest. */
export type Match = { readonly rule: DirectiveRule; readonly effect: RuleEffect; readonly rank: number };

/** Rules by priority, ties by position, each with its rank. */
export const ranked = <One extends { readonly rule: DirectiveRule }>(
  rules: readonly One[],
): readonly (One & { readonly rank: number })[] =>
  rules
    .toSorted((left, right) => right.rule.rulePriority - left.rule.rulePriority)
    .map((one, rank) => ({ ...one, rank }));

export type Matched = {
  /** By priority, ties by position, so the first one wins. */
  readonly matches: readonly Match[];
  /** Only before the verdict, in grammar 2: rules that match if the action and the change turn out as their conditions say. In the same order. */
  readonly pending?: readonly Match[];
  readonly trace: RulesTrace;
  /** The cost of the decision: values looked at, and tests of them. Never above DECISION_WORK; in grammar 2, never much above DECISION_EFFORT. */
  readonly work: number;
};
