/** A rule that looks as if it decides something but does not. An empty id is a warning about the set. */
export type RuleWarning = { readonly drRuleId: string; readonly message: string };

/** A warning as a line. */
export const warningLine = ({ drRuleId, message }: RuleWarning): string =>
  drRuleId === '' ? message : `${drRuleId}: ${message}`;
