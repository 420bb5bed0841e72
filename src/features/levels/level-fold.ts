import { levelEvents } from './domain/events.js';
import { evolveLevel, initialLevel, type LevelState } from './domain/state.js';
import type { Fold } from '../../kernel/streams/fold.js';

/** How a level's stream is folded. */
export const levelFold: Fold<LevelState> = {
  initial: initialLevel,
  evolve: evolveLevel,
  versionOf: levelEvents.versionOf,
};
