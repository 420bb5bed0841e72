/** An escaped comma or backslash, a comma that separates names, or a part of a name. */
const PART = /\\([\\,])|,|[^\\,]+|\\/g;

/**
 * The names in a list that commas separate. Names may have commas themselves: `\,` is a comma of a name, and `\\` a backslash. A backslash before
 * anything else is itself.
 */
export const splitNames = (list: string): readonly string[] => {
  const names = [''];
  for (const [part, escaped] of list.matchAll(PART)) {
    if (part === ',') names.push('');
    else names.push(`${names.pop() ?? ''}${escaped ?? part}`);
  }
  return names;
};
