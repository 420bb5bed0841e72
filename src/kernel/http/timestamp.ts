import { TIMESTAMP } from './patterns.js';

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
