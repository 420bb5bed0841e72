import { effectOf, type RuleEffect } from '../rules/effect.js';
import type { RuleTrace } from '../rules/rules-trace.js';
import type { DirectiveRuleSet } from '../rules/ruleset.js';
import { isObject, type Json, type JsonObject } from '../shared/json.js';

type RuleRanks = ReadonlyMap<string, { readonly rank: number; readonly effect: RuleEffect }>;

/** Sets are immutable, so their order stays right as long as the set is held. */
const known = new WeakMap<DirectiveRuleSet, RuleRanks>();

const rankedOf = (set: DirectiveRuleSet): RuleRanks => {
  const ranked =
    known.get(set) ??
    new Map(
      set.rulesetRules
        .toSorted((left, right) => right.rulePriority - left.rulePriority)
        .map((rule, rank) => [rule.drRuleId, { rank, effect: effectOf(rule) }]),
    );
  known.set(set, ranked);
  return ranked;
};

/** The rule that an action or a refusal came from: the one that refused it, or the highest that directs to it; null where no rule did. */
const decidedBy = (ranked: RuleRanks, fired: readonly string[], verdict: JsonObject): string | null => {
  if (verdict['valid'] !== true) {
    const { details } = verdict;
    const refusing = verdict['code'] === 'RULE_REFUSED' && isObject(details) ? details['drRuleId'] : null;
    return typeof refusing === 'string' ? refusing : null;
  }
  const action = isObject(verdict['action']) ? verdict['action'] : {};
  const directing = fired
    .flatMap((drRuleId) => ({ drRuleId, ...(ranked.get(drRuleId) ?? { rank: Infinity, effect: null }) }))
    .filter(({ effect }) => effect?.kind === 'direct')
    .sort((one, other) => one.rank - other.rank)[0];
  return directing?.effect?.kind === 'direct' && directing.effect.type === action['type'] ? directing.drRuleId : null;
};

/** What the rules of a set did in one decision: those that matched, the one that decided, and those below it. */
export type RuleUses = {
  readonly fired: readonly string[];
  readonly decided: string | null;
  readonly shadowed: readonly string[];
};

/** The rules that matched in a decision, by its trace. */
export const firedOf = (outcome: JsonObject): readonly string[] => {
  const grounds = isObject(outcome['grounds']) ? outcome['grounds'] : outcome;
  const rules = (grounds['rules'] ?? []) as Json as unknown as readonly RuleTrace[];
  return rules.flatMap(({ drRuleId, matched }) => (matched ? drRuleId : []));
};

/** @param set the rules that decided */
export const ruleUsesOf = (set: DirectiveRuleSet, outcome: JsonObject): RuleUses => {
  const fired = firedOf(outcome);
  const { verdict } = outcome;
  if (fired.length === 0 || !isObject(verdict)) return { fired, decided: null, shadowed: [] };
  const ranked = rankedOf(set);
  const decided = decidedBy(ranked, fired, verdict);
  if (decided === null) return { fired, decided, shadowed: [] };
  const rank = ranked.get(decided)?.rank ?? Infinity;
  return { fired, decided, shadowed: fired.filter((drRuleId) => (ranked.get(drRuleId)?.rank ?? -1) > rank) };
};
