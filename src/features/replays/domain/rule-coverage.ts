import type { Action } from '../../rules/domain/bridge/action.js';
import { effectIn } from '../../rules/domain/action-words.js';
import { contradicts, forbids, permits } from '../../rules/domain/bridge/refusal.js';
import { type DirectiveRuleSet, grammarOf, losesTo } from '../../rules/domain/ruleset.js';
import { type Match, ranked } from '../../rules/domain/matched.js';
import type { RuleTrace } from '../../rules/domain/rules-trace.js';
import type { Verdict } from '../../npcs/domain/events.js';

/** The record of one decision: which rules matched, and its verdict; null if it made none. */
export type CoveredDecision = {
  readonly rules: readonly Pick<RuleTrace, 'drRuleId' | 'matched'>[];
  readonly verdict: Pick<Verdict, 'valid' | 'action' | 'refusedAction' | 'code' | 'details'> | null;
};

/** The rules that a decision used, by id. */
export type RuleUse = {
  readonly fired: readonly string[];
  /** The one that its action or its refusal came from. */
  readonly decided: string | null;
  /** Those that matched, but demanded something different from a higher one that decided. */
  readonly shadowed: readonly string[];
};

const idOf = ({ rule }: Match): string => rule.drRuleId;

/** The matches of a ruleset in a decision, by rank. */
const matchesIn = (set: DirectiveRuleSet, { rules }: CoveredDecision): readonly Match[] => {
  const matched = new Set(rules.flatMap((rule) => (rule.matched ? [rule.drRuleId] : [])));
  return ranked(set.rulesetRules.map((rule) => ({ rule })))
    .filter(({ rule }) => matched.has(rule.drRuleId))
    .map(({ rule, rank }) => ({ rule, effect: effectIn(grammarOf(set), rule), rank }));
};

/** Whether a rule below the one that refused an action would have refused it as well. */
const refusesToo = (match: Match, action: Action | null | undefined): boolean =>
  action !== null && action !== undefined && (forbids(match, action) || contradicts(match, action));

/** The rule of grammar 2 that an accepted action comes from: it is required, or some lower rule would have refused it. */
const permitting = (matches: readonly Match[], action: Action): Match | undefined => {
  const highest = matches.find((match) => permits(match, action));
  if (highest === undefined || highest.effect.kind === 'require') return highest;
  const below = matches.slice(matches.indexOf(highest) + 1);
  return below.some((match) => refusesToo(match, action)) ? highest : undefined;
};

/**
 * The use of each rule of a ruleset in one decision. An action comes from the highest rule that directs or requires it, or that allows what a lower
 * one would have refused; a refusal from the rule that it names.
 */
export const ruleUse = (set: DirectiveRuleSet, decision: CoveredDecision): RuleUse => {
  const matches = matchesIn(set, decision);
  const fired = matches.map(idOf);
  const { verdict } = decision;
  if (verdict === null) return { fired, decided: null, shadowed: [] };
  const { valid, action } = verdict;
  const refusing = verdict.code === 'RULE_REFUSED' ? verdict.details?.['drRuleId'] : undefined;
  const directing = matches.find(({ effect }) => effect.kind === 'direct');
  const follows = valid && action !== null && directing !== undefined && !contradicts(directing, action);
  const permitted = valid && action !== null ? permitting(matches, action) : undefined;
  const decider = follows ? directing : (permitted ?? matches.find((match) => idOf(match) === refusing));
  if (decider === undefined) return { fired, decided: null, shadowed: [] };
  const below = matches.slice(matches.indexOf(decider) + 1);
  const isShadowed = (match: Match): boolean =>
    follows
      ? match.effect.kind === 'direct' && decider.effect.kind === 'direct' && losesTo(match.effect, decider.effect)
      : refusesToo(match, valid ? action : verdict.refusedAction);
  return { fired, decided: idOf(decider), shadowed: below.filter(isShadowed).map(idOf) };
};

/** The location of a decision. */
export type DecisionPlace = { readonly npcId: string; readonly turnId: string | null; readonly revision: number };

/** How many decisions are named for each rule. */
export const COVERAGE_SAMPLES = 5;

export type CoveredRule = {
  readonly drRuleId: string;
  readonly ruleName: string;
  readonly fired: number;
  readonly decided: number;
  readonly shadowed: number;
  readonly use: 'decided' | 'shadowed' | 'fired' | 'never';
  readonly samples: readonly DecisionPlace[];
};

export type Coverage = { readonly decisions: number; readonly rules: readonly CoveredRule[] };

/** Counts the uses of a ruleset's rules, decision by decision. */
export type CoverageCount = {
  readonly add: (decision: CoveredDecision, place: DecisionPlace) => void;
  readonly counted: () => Coverage;
};

/** The most significant use of a rule. */
export const useOf = ({
  fired,
  decided,
  shadowed,
}: Pick<CoveredRule, 'fired' | 'decided' | 'shadowed'>): CoveredRule['use'] =>
  decided > 0 ? 'decided' : shadowed > 0 ? 'shadowed' : fired > 0 ? 'fired' : 'never';

export const countCoverage = (set: DirectiveRuleSet): CoverageCount => {
  const tallies = new Map(
    set.rulesetRules.map(({ drRuleId, ruleName }) => [
      drRuleId,
      { drRuleId, ruleName, fired: 0, decided: 0, shadowed: 0, samples: [] as DecisionPlace[] },
    ]),
  );
  let decisions = 0;
  return {
    add: (decision, place) => {
      decisions += 1;
      const { fired, decided, shadowed } = ruleUse(set, decision);
      for (const id of fired) {
        const tally = tallies.get(id);
        if (tally === undefined) continue;
        tally.fired += 1;
        if (id === decided) tally.decided += 1;
        if (shadowed.includes(id)) tally.shadowed += 1;
        if (tally.samples.length < COVERAGE_SAMPLES) tally.samples.push(place);
      }
    },
    counted: () => ({ decisions, rules: [...tallies.values()].map((tally) => ({ ...tally, use: useOf(tally) })) }),
  };
};
