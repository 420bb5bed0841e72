import type { LevelVersion } from '../../../../src/features/levels/domain/events.js';

const contents = { goals: 1, items: 0, doors: 0, hazards: 0, npcs: 0, triggers: 0 };

/** A version of the level `inn`. */
export const levelPut = (version: number, digest: string): { type: 'LevelPut'; data: LevelVersion } => ({
  type: 'LevelPut',
  data: { levelId: 'inn', version, digest, bytes: 700, name: 'The inn', width: 6, height: 4, contents, warnings: [] },
});
