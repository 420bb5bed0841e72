import { decoderOf } from '../shared/decoder.js';
import type { LevelEvent } from './level-events.js';

/** The events of a level's stream. */
export const levelEvents = decoderOf<LevelEvent>({ LevelPut: [], LevelDeleted: [] });
