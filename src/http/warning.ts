/** The header that says that a named ruleset is not registered, so that no rules decided (contract 2.8). An id may hold any letters: escaped. */
export const rulesetWarning = (missing: string | undefined): Record<string, string> =>
  missing === undefined ? {} : { 'Anima-Warning': `ruleset-missing; rulesetId="${encodeURIComponent(missing)}"` };
