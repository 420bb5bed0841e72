/** The order in which all writers lock rows. */
export const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** PostgreSQL's text holds every character but this one. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD');
