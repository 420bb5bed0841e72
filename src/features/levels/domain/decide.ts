import { Rejection } from '../../../kernel/base/rejection.js';
import { MAX_VERSIONS } from './bounds.js';
import type { LevelEvent, LevelVersion } from './events.js';
import type { LevelState } from './state.js';

/** Stores a level: a new version, unless the map is the current one. Versions continue counting after a deletion. Refuses with LEVELS_FULL. */
export const putLevel = (
  state: LevelState,
  level: Omit<LevelVersion, 'version'>,
): readonly LevelEvent[] | Rejection => {
  if (isNewestMap(state, level.digest)) return [];
  const version = (state.latest?.put.version ?? 0) + 1;
  return version > MAX_VERSIONS
    ? new Rejection('LEVELS_FULL', { details: { mostVersions: MAX_VERSIONS } })
    : [{ type: 'LevelPut', data: { ...level, version } }];
};

/** Whether a map is the newest version. */
export const isNewestMap = ({ latest, deleted }: LevelState, digest: string): boolean =>
  !deleted && latest?.put.digest === digest;

/** The target of a deletion: a level, optionally with all of its versions. */
export type Deletion = { readonly levelId: string; readonly versions?: 'all' };

/** Deletes a level. Refuses with LEVEL_NOT_FOUND if it is unknown, or already deleted and its versions are to be kept. */
export const deleteLevel = (
  { latest, deleted, dropped }: LevelState,
  deletion: Deletion,
): readonly LevelEvent[] | Rejection => {
  const { levelId, versions } = deletion;
  if (latest === null || (deleted && versions === undefined))
    return new Rejection('LEVEL_NOT_FOUND', { details: { levelId } });
  return deleted && dropped >= latest.put.version ? [] : [{ type: 'LevelDeleted', data: deletion }];
};
