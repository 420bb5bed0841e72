/**
 * The revisions of an object's versions in its stream: from `version` on, a version is at revision `version + offset`, up to the next entry. Each gap
 * with other events starts a new entry.
 */
export type VersionPlaces = readonly { readonly version: number; readonly offset: number }[];

/** The entries after one more version, which is at `revision`. */
export const withVersionAt = (places: VersionPlaces, version: number, revision: number): VersionPlaces => {
  const offset = revision - version;
  return places.at(-1)?.offset === offset ? places : [...places, { version, offset }];
};

/** The revision of the event with a version, up to the newest one; null when no version has that number. */
export const revisionAmong = (places: VersionPlaces, newest: number, version: number): number | null => {
  const place = places.findLast((each) => each.version <= version);
  return place === undefined || version > newest ? null : version + place.offset;
};
