import { decoderOf } from '../../../kernel/base/decoder.js';
import type { LevelProblem } from './problem.js';
import type { LevelSummary } from './summary.js';

/** One version of a level: what its map says, and the map itself, by its digest. Immutable. Versions count from 1. */
export type LevelVersion = LevelSummary & {
  readonly levelId: string;
  readonly version: number;
  /** The base64url SHA-256 of the map's JCS form, by which the archive has it. */
  readonly digest: string;
  /** Of the map's JCS form. */
  readonly bytes: number;
  /** What whoever put it was told. */
  readonly warnings: readonly LevelProblem[];
};

/** The events of a level's stream. Shapes are storage: never changed, only upcast (docs/adr/0004). */
export type LevelEvent =
  | { type: 'LevelPut'; data: LevelVersion }
  /** `versions`: the maps of all versions up to now are dropped as well. */
  | { type: 'LevelDeleted'; data: { readonly levelId: string; readonly versions?: 'all' } };

/** The events of a level's stream. */
export const levelEvents = decoderOf<LevelEvent>({ LevelPut: [], LevelDeleted: [] });
