import type { Level } from '../../levels/domain/level.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { findingsOfLevel } from './findings.js';
import { keyKindsInSlices } from './key-kinds.js';
import { NO_NUMBERS, WORLD_NUMBERS } from './never-matches.js';
import { reachFromStart } from './reach.js';
import { regionsInSlices } from './regions.js';

/**
 * Precomputes the facts about a level that playing it and reporting on it need, in slices, for later lookups. Done once for the lifetime of a level.
 */
export function* study(level: Level): Sliced<Level> {
  yield* keyKindsInSlices(level);
  yield* regionsInSlices(level, 'careful');
  yield* regionsInSlices(level, 'bold');
  yield* reachFromStart(level, 'harmed');
  yield* reachFromStart(level, 'unharmed');
  yield* findingsOfLevel(level, WORLD_NUMBERS);
  yield* findingsOfLevel(level, NO_NUMBERS);
  return level;
}
