/** The header that says that a named ruleset is not registered and no rules decided (contract 2.8). The id is escaped, because it may hold any letters. */
export const rulesetWarning = (missing: string | undefined): Record<string, string> =>
  missing === undefined ? {} : { 'Anima-Warning': `ruleset-missing; rulesetId="${encodeURIComponent(missing)}"` };
