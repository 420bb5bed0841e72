/** What a value costs in addition to its text or members: the header of an object, the reference to the name of a member. Rounded figures of V8. */
const OBJECT_BYTES = 48;
const MEMBER_BYTES = 16;
const NUMBER_BYTES = 8;

/**
 * Roughly how many bytes of memory a value of plain data takes: for bounds of caches, not for exact accounting. Texts count at most twice their
 * length.
 */
export const weightOf = (value: unknown): number => {
  if (typeof value === 'string') return MEMBER_BYTES + 2 * value.length;
  if (typeof value !== 'object' || value === null) return NUMBER_BYTES;
  let bytes = OBJECT_BYTES;
  if (Array.isArray(value)) {
    for (const element of value as readonly unknown[]) bytes += NUMBER_BYTES + weightOf(element);
    return bytes;
  }
  if (value instanceof Map || value instanceof Set) {
    for (const entry of value as Iterable<unknown>) bytes += MEMBER_BYTES + weightOf(entry);
    return bytes;
  }
  for (const name in value) bytes += MEMBER_BYTES + weightOf((value as Readonly<Record<string, unknown>>)[name]);
  return bytes;
};
