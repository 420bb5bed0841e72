/**
 * What is known of where our events lie in a log that others write to as well: nothing of ours lies up to `first`, nor behind `own` up to `place`. All are
 * positions; `own` is that of our last event up to `place`, 0 when there is none.
 */
export type LogPlaces = { readonly first: number; readonly own: number; readonly place: number };

/** The places, and the id of the event at `place`, whoever wrote it: by it the log is known again. */
export type StoredLogPlaces = LogPlaces & { readonly id: string };

/** Keeps them for the next start, so that what others wrote is not looked through again. */
export interface LogPlaceStore {
  /** Null when none are kept. @throws Rejection DATABASE_UNAVAILABLE */
  load(): Promise<StoredLogPlaces | null>;
  /** @throws Rejection DATABASE_UNAVAILABLE */
  keep(places: StoredLogPlaces): Promise<void>;
}
