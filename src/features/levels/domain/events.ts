import { decoderOf } from '../../../kernel/base/decoder.js';
import type { LevelProblem } from './problem.js';
import type { LevelSummary } from './summary.js';

/** One version of a level: a summary of its map, and the map itself, by its digest. Immutable. Versions count from 1. */
export type LevelVersion = LevelSummary & {
  readonly levelId: string;
  readonly version: number;
  /** The base64url SHA-256 of the map's JCS form, its name in the archive. */
  readonly digest: string;
  /** The length of the map's JCS form. */
  readonly bytes: number;
  /** The warnings that its uploader received. */
  readonly warnings: readonly LevelProblem[];
};

/** The events of a level's stream. The shapes are storage: they never change and are only upcast (docs/adr/0004). */
export type LevelEvent =
  | { type: 'LevelPut'; data: LevelVersion }
  /** `versions`: the maps of all versions so far are dropped as well. */
  | { type: 'LevelDeleted'; data: { readonly levelId: string; readonly versions?: 'all' } };

/** The decoder of a level's stream. */
export const levelEvents = decoderOf<LevelEvent>({ LevelPut: [], LevelDeleted: [] });
