import { type RuledDecision, rulesWithErrors, ruleUse } from '../../turns/domain/rule-use.js';
import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';

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
  /** The decisions in which one of its conditions could not be decided. */
  readonly errors: number;
  readonly use: 'decided' | 'shadowed' | 'fired' | 'never';
  readonly samples: readonly DecisionPlace[];
};

export type Coverage = { readonly decisions: number; readonly rules: readonly CoveredRule[] };

/** Counts the uses of a ruleset's rules, decision by decision. */
export type CoverageCount = {
  readonly add: (decision: RuledDecision, place: DecisionPlace) => void;
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
      { drRuleId, ruleName, fired: 0, decided: 0, shadowed: 0, errors: 0, samples: [] as DecisionPlace[] },
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
      for (const id of rulesWithErrors(decision)) {
        const tally = tallies.get(id);
        if (tally !== undefined) tally.errors += 1;
      }
    },
    counted: () => ({ decisions, rules: [...tallies.values()].map((tally) => ({ ...tally, use: useOf(tally) })) }),
  };
};
