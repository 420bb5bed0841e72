/** The order in which all writers lock rows. */
export const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const stored = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text);

/**
 * The parameters of a statement in a form that PostgreSQL accepts: its text holds every character except NUL. Stored and searched values are
 * converted in the same way, so that one finds the other.
 */
export const storable = (values: readonly unknown[]): unknown[] =>
  values.map((value) => {
    if (typeof value === 'string') return stored(value);
    if (!Array.isArray(value)) return value;
    return value.map((one: unknown) => (typeof one === 'string' ? stored(one) : one));
  });
