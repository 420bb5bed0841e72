/** The longest id that a client may choose, in Unicode code points. */
const MAX_CODE_POINTS = 128;

/**
 * Characters that no id may contain: separators of paths, everything that does not print (controls, format characters, line separators, private use,
 * surrogates, noncharacters), and space at either end. The two joiners stay: emoji and several scripts need them between letters. Unassigned code
 * points are allowed too: which ones are assigned depends on the version of Node, and whether an id is valid must not.
 */
const forbidden =
  /[/\p{Cc}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Noncharacter_Code_Point}]|(?![\u200c\u200d])\p{Cf}|^[\p{Zs}\u200c\u200d]|[\p{Zs}\u200c\u200d]$/u;
/** Most ids match this and need no further check. */
export const plainId = /^[A-Za-z0-9_-]{1,128}$/;

/** Whether a client may use this id for a mind, an agent or a ruleset. */
export const isClientId = (id: string): boolean => {
  if (plainId.test(id)) return true;
  if (id === '' || id === '.' || id === '..' || id.length > 2 * MAX_CODE_POINTS) return false;
  return Array.from(id).length <= MAX_CODE_POINTS && !forbidden.test(id) && id.normalize('NFC') === id;
};
