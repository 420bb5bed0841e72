/** What a value costs besides its text or members: an object with its header, a member with its name's reference. Round figures of V8. */
const OBJECT_BYTES = 48;
const MEMBER_BYTES = 16;
const NUMBER_BYTES = 8;

/** About how many bytes of memory a value of plain data takes: for bounds of caches, not for bills. Texts count twice their length at most. */
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
