/** What was done although something looks wrong, for whoever writes the client. Several are a list (RFC 9110, section 5.6.1). */
const WARNING = 'Anima-Warning';

/** Adds headers to those of an answer; warnings join the ones that are there. */
export const addHeaders = (headers: Record<string, string>, more: Readonly<Record<string, string>> = {}): void => {
  const before = headers[WARNING];
  Object.assign(headers, more);
  if (before !== undefined && more[WARNING] !== undefined) headers[WARNING] = `${before}, ${more[WARNING]}`;
};

/** A named ruleset is not registered, and no rules decided (contract 2.8). The id is escaped, because it may hold any letters. */
export const rulesetWarning = (missing: string | undefined): Record<string, string> =>
  missing === undefined ? {} : { [WARNING]: `ruleset-missing; rulesetId="${encodeURIComponent(missing)}"` };

/** Members were ignored whose names look like those that the route knows (contract 1.2). @param meant JSON Pointers of known names */
export const memberWarning = (meant: readonly string[]): Record<string, string> =>
  meant.length === 0 ? {} : { [WARNING]: meant.map((pointer) => `member-unknown; meant="${pointer}"`).join(', ') };

/** A result was passed over whose type looks like a known one (contract 2.6). */
export const resultTypeWarning = (meant: string | undefined): Record<string, string> =>
  meant === undefined ? {} : { [WARNING]: `result-type-unknown; meant="${meant}"` };
