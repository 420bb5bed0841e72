import { evolveMind, initialMind, type MindState } from '../../domain/npc/state.js';
import type { Fold } from '../streams/lane.js';

/** How a mind's stream is folded. */
export const mindFold: Fold<MindState> = { initial: initialMind, evolve: evolveMind };
