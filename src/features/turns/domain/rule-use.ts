import type { Action } from '../../rules/domain/bridge/action.js';
import { effectIn } from '../../rules/domain/action-words.js';
import { contradicts, forbids, permits } from '../../rules/domain/bridge/refusal.js';
import { type DirectiveRuleSet, grammarOf, losesTo } from '../../rules/domain/ruleset.js';
import { type Match, ranked } from '../../rules/domain/matched.js';
import type { RuleTrace } from '../../rules/domain/rules-trace.js';
import type { Verdict } from '../../npcs/domain/events.js';
import { refusingRule } from '../../npcs/domain/refusing-rule.js';

/** What one decision records of its rules: which of them matched, and its verdict; null if it made none. */
export type RuledDecision = {
  readonly rules: readonly Pick<RuleTrace, 'drRuleId' | 'matched' | 'conditions'>[];
  readonly verdict: Pick<Verdict, 'valid' | 'action' | 'refusedAction' | 'code' | 'details'> | null;
  /** The rule whose action replaced the one of the model. */
  readonly replacedBy?: string;
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

/** The matches of a ruleset in a decision, by rank. A rule that replaced matched the model's action, even if it does not match its own. */
const matchesIn = (set: DirectiveRuleSet, { rules, replacedBy }: RuledDecision): readonly Match[] => {
  const matched = new Set([replacedBy, ...rules.flatMap((rule) => (rule.matched ? [rule.drRuleId] : []))]);
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
 * The use of each rule of a ruleset in one decision. An action comes from the rule that replaced the model's with it; otherwise from the highest rule
 * that directs or requires it, or that allows what a lower one would have refused. A refusal comes from the rule that it names.
 */
export const ruleUse = (set: DirectiveRuleSet, decision: RuledDecision): RuleUse => {
  const matches = matchesIn(set, decision);
  const fired = matches.map(idOf);
  const { verdict, replacedBy } = decision;
  if (verdict === null) return { fired, decided: null, shadowed: [] };
  const { valid, action } = verdict;
  const refusing = refusingRule(verdict);
  const directing = matches.find(({ effect }) => effect.kind === 'direct');
  const follows = valid && action !== null && directing !== undefined && !contradicts(directing, action);
  const permitted = valid && action !== null ? permitting(matches, action) : undefined;
  const named = matches.find((match) => idOf(match) === (replacedBy ?? refusing));
  const decider = follows ? directing : replacedBy === undefined ? (permitted ?? named) : named;
  if (decider === undefined) return { fired, decided: null, shadowed: [] };
  const below = matches.slice(matches.indexOf(decider) + 1);
  const isShadowed = (match: Match): boolean =>
    follows
      ? match.effect.kind === 'direct' && decider.effect.kind === 'direct' && losesTo(match.effect, decider.effect)
      : refusesToo(match, valid ? action : verdict.refusedAction);
  return { fired, decided: idOf(decider), shadowed: below.filter(isShadowed).map(idOf) };
};

/** The rules of which a condition could not be decided, by id, as far as the decision recorded them. */
export const rulesWithErrors = ({ rules }: Pick<RuledDecision, 'rules'>): readonly string[] =>
  rules.flatMap(({ drRuleId, conditions = [] }) =>
    conditions.some(({ error }) => error !== undefined) ? [drRuleId] : [],
  );
