import type { Verdict } from './events.js';

/** The rule that refused a verdict; undefined if something else did, or nothing. */
export const refusingRule = ({ code, details }: Pick<Verdict, 'code' | 'details'>): string | undefined => {
  const named = code === 'RULE_REFUSED' ? details?.['drRuleId'] : undefined;
  return typeof named === 'string' ? named : undefined;
};
