/** An RFC 3339 timestamp with any offset. No leap seconds, because JavaScript has none. */
export const TIMESTAMP =
  '^\\d{4}-\\d\\d-\\d\\d[Tt]([01]\\d|2[0-3])(:[0-5]\\d){2}(\\.\\d{1,9})?([Zz]|[+-]\\d\\d:\\d\\d)$';

const timestamp = new RegExp(TIMESTAMP);
const DATE_LENGTH = 'yyyy-mm-dd'.length;

/** Milliseconds since 1970 of an RFC 3339 timestamp, or null when it is not one or its day does not exist: JavaScript takes 30 February for 2 March. */
export const instantOf = (text: string): number | null => {
  if (!timestamp.test(text)) return null;
  const date = text.slice(0, DATE_LENGTH);
  const midnight = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(date)) return null;
  const instant = Date.parse(text.toUpperCase());
  return Number.isNaN(instant) ? null : instant;
};
