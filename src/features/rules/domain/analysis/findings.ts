/** The kinds of findings about rules. */
export const ruleFindingKinds = ['never_matches', 'needs_list', 'shadowed', 'contradicts'] as const;

/** What is certain about a rule without playing it. The first id is that of the rule that it is about. */
export type RuleFinding = {
  readonly kind: (typeof ruleFindingKinds)[number];
  readonly drRuleIds: readonly string[];
  readonly message: string;
  readonly meant?: string;
};

/** A rule that was not judged, and why. */
export type UnjudgedRule = { readonly drRuleId: string; readonly reason: string };

/** What judging the rules of a set led to. */
export type RuleFindings = {
  readonly findings: readonly RuleFinding[];
  readonly findingsLeftOut?: number;
  readonly judged: number;
  readonly notJudged: readonly UnjudgedRule[];
};
