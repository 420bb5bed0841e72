import type { Seals } from '../crypto/seals.js';
import type { Snapshot } from '../../ports/snapshots.js';

/** What a seal binds a state to. */
type SnapshotPlace = Pick<Snapshot, 'stream' | 'version' | 'revision' | 'hash'>;

/** A sealed state is a list of its seal and the state, in JSON. */
const SEALED = /^\["([\w-]{43})",/;
const PREFIX_CHARS = '["",'.length + 43;

const covered = ({ stream, version, revision, hash }: SnapshotPlace, state: string): string =>
  `${JSON.stringify([stream, version, revision, hash])}\n${state}`;

/** The text to save of a state, JSON itself, with its seal. */
export const sealState = (seals: Seals, place: SnapshotPlace, state: string): string =>
  `["${seals.of(covered(place, state))}",${state}]`;

/** The state in a saved text; null if it has no seal, as those of older servers, and 'changed' if the seal does not fit. */
export const openState = (
  seals: Seals,
  { state: saved, ...place }: Snapshot,
): { readonly state: string } | 'changed' | null => {
  const mac = SEALED.exec(saved)?.[1];
  if (mac === undefined) return null;
  const state = saved.slice(PREFIX_CHARS, -1);
  return seals.fits(covered(place, state), mac) ? { state } : 'changed';
};
