import type { LogPlaces } from '../../ports/log-places.js';

export const NOTHING_KNOWN: LogPlaces = { first: 0, own: 0, place: 0 };

/** After one of our events was seen, with nothing of ours between it and what was looked at before. */
export const withEvent = ({ first, own, place }: LogPlaces, position: number): LogPlaces =>
  position <= place
    ? { first, own, place }
    : { first: own === 0 ? Math.max(first, position - 1) : first, own: position, place: position };

/** After the log was looked at up to a position, and held nothing more of ours. */
export const withPlace = (known: LogPlaces, position: number): LogPlaces =>
  position <= known.place ? known : { ...known, place: position };

/** After the last event of ours was found from the log's end; what lies before it was not looked at. */
export const withLast = ({ first, own, place }: LogPlaces, last: number, end: number): LogPlaces => ({
  first: own === 0 ? Math.max(first, Math.min(place, last - 1)) : first,
  own: last,
  place: end,
});

/** Where a reader of our events may begin that wants those after a position: nothing of ours lies between the two. */
export const startAfter = ({ first, own, place }: LogPlaces, after: number): number => {
  if (own === 0 ? after <= place : after >= own && after <= place) return place;
  return own > 0 && after < first ? first : after;
};
