import { decoderOf } from '../../../kernel/base/decoder.js';
import type { LevelEvent } from './events.js';

/** The events of a level's stream. */
export const levelEvents = decoderOf<LevelEvent>({ LevelPut: [], LevelDeleted: [] });
