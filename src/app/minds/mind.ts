import { evolveMind, initialMind, type MindState } from '../../domain/npc/state.js';
import { savedMind } from '../../domain/npc/saved-mind.js';
import type { Fold } from '../streams/fold.js';

/** How a mind's stream is folded. Raise its version whenever `test/app/minds/mind.test.ts` says so. */
export const mindFold: Fold<MindState> = {
  initial: initialMind,
  evolve: evolveMind,
  snapshots: { version: 4, restore: savedMind },
};
