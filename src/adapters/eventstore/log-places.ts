import type { LogPlaces } from '../../ports/log-places.js';

export const NOTHING_KNOWN: LogPlaces = { first: 0, own: 0, place: 0 };

/** After one of this server's events was seen, with none of its events between it and what was searched before. */
export const withEvent = ({ first, own, place }: LogPlaces, position: number): LogPlaces =>
  position <= place
    ? { first, own, place }
    : { first: own === 0 ? Math.max(first, position - 1) : first, own: position, place: position };

/** After the log was searched up to a position, and held no more of this server's events. */
export const withPlace = (known: LogPlaces, position: number): LogPlaces =>
  position <= known.place ? known : { ...known, place: position };

/** After this server's last event was found from the log's end; what comes before it was not searched. */
export const withLast = ({ first, own, place }: LogPlaces, last: number, end: number): LogPlaces => ({
  first: own === 0 ? Math.max(first, Math.min(place, last - 1)) : first,
  own: last,
  place: end,
});

/** Where a reader of this server's events after a position may begin: none of its events are between the two. */
export const startAfter = ({ first, own, place }: LogPlaces, after: number): number => {
  if (own === 0 ? after <= place : after >= own && after <= place) return place;
  return own > 0 && after < first ? first : after;
};
