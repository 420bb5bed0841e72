/** The order in which all writers lock rows. */
export const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const stored = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text);

/**
 * The parameters of a statement as PostgreSQL takes them: its text holds every character but NUL. What is stored and what is looked for are changed
 * alike, so one finds the other.
 */
export const storable = (values: readonly unknown[]): unknown[] =>
  values.map((value) => {
    if (typeof value === 'string') return stored(value);
    if (!Array.isArray(value)) return value;
    return value.map((one: unknown) => (typeof one === 'string' ? stored(one) : one));
  });
