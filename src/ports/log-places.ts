/**
 * The known positions of this server's events in a log that others write to as well: it has no events up to `first`, nor after `own` up to `place`.
 * All are positions; `own` is the position of its last event up to `place`, 0 if there is none.
 */
export type LogPlaces = { readonly first: number; readonly own: number; readonly place: number };

/** The positions, and the id of the event at `place`, whoever wrote it: it identifies the log. */
export type StoredLogPlaces = LogPlaces & { readonly id: string };

/** Keeps them for the next start, so that the events of others are not searched again. */
export interface LogPlaceStore {
  /** Null if none are kept. @throws Rejection DATABASE_UNAVAILABLE */
  load(): Promise<StoredLogPlaces | null>;
  /** @throws Rejection DATABASE_UNAVAILABLE */
  keep(places: StoredLogPlaces): Promise<void>;
}
