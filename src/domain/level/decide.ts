import { Rejection } from '../shared/rejection.js';
import type { LevelEvent, LevelVersion } from './level-events.js';
import type { LevelState } from './level-state.js';

/** Puts a level: a new version, unless the map is the one that is there (contract 9.7). Versions go on counting after a deletion. */
export const putLevel = (
  { latest, deleted }: LevelState,
  level: Omit<LevelVersion, 'version'>,
): readonly LevelEvent[] =>
  !deleted && latest?.put.digest === level.digest
    ? []
    : [{ type: 'LevelPut', data: { ...level, version: (latest?.put.version ?? 0) + 1 } }];

/** Deletes a level; its versions stay readable. Refuses with LEVEL_NOT_FOUND when it is unknown or deleted. */
export const deleteLevel = ({ latest, deleted }: LevelState, levelId: string): readonly LevelEvent[] | Rejection =>
  latest === null || deleted
    ? new Rejection('LEVEL_NOT_FOUND', { details: { levelId } })
    : [{ type: 'LevelDeleted', data: { levelId } }];
