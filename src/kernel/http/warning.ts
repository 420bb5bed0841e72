import type { Context } from 'koa';

/**
 * A warning to the authors of the client: the request was carried out, but something looks wrong. Several warnings form a list (RFC 9110, section
 * 5.6.1).
 */
const WARNING = 'Anima-Warning';

/** Headers with more of them; warnings join the ones that are there. */
export const withHeaders = (
  headers: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): Record<string, string> => {
  const [before, added] = [headers[WARNING], more[WARNING]];
  return { ...headers, ...more, ...(before && added ? { [WARNING]: `${before}, ${added}` } : {}) };
};

/** Sets headers of an answer; warnings join the ones that are there. */
export const addHeaders = (ctx: Pick<Context, 'set' | 'res'>, more: Readonly<Record<string, string>>): void => {
  const before = ctx.res.getHeader(WARNING);
  ctx.set(typeof before === 'string' ? withHeaders({ [WARNING]: before }, more) : more);
};

/**
 * Another ruleset than the named one decided: the chosen one is not registered (`missing`), or the NPC is bound to another (`ignored`). Ids are
 * escaped, because they may contain any characters.
 */
export const rulesetWarning = (missing: string | undefined, ignored: string | undefined): Record<string, string> =>
  missing !== undefined
    ? { [WARNING]: `ruleset-missing; rulesetId="${encodeURIComponent(missing)}"` }
    : ignored !== undefined
      ? { [WARNING]: `ruleset-ignored; rulesetId="${encodeURIComponent(ignored)}"` }
      : {};

/** Members were ignored whose names resemble those that the route knows. @param meant JSON Pointers of known names */
export const memberWarning = (meant: readonly string[]): Record<string, string> =>
  meant.length === 0 ? {} : { [WARNING]: meant.map((pointer) => `member-unknown; meant="${pointer}"`).join(', ') };

/** A header was ignored that asks for something else than the response. */
export const headerWarning = (name: string): Record<string, string> => ({
  [WARNING]: `header-ignored; name="${name}"`,
});

/** A result was ignored whose type resembles a known one. */
export const resultTypeWarning = (meant: string | undefined): Record<string, string> =>
  meant === undefined ? {} : { [WARNING]: `result-type-unknown; meant="${meant}"` };
