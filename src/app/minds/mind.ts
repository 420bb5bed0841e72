import { npcEvents } from '../../domain/npc/decoder.js';
import { evolveMind, initialMind, isArriving, type MindState } from '../../domain/npc/state.js';
import { savedMind } from '../../domain/npc/saved-mind.js';
import type { Fold } from '../streams/fold.js';

/** The command that writes a soul into a mind, whoever carries it out. */
export const arrivalCommand = (importId: string): string => `arrival_${importId}`;

/** How a mind's stream is folded. Raise its version whenever `test/app/minds/mind.test.ts` says so. */
export const mindFold: Fold<MindState> = {
  initial: initialMind,
  evolve: evolveMind,
  versionOf: npcEvents.versionOf,
  heldFor: (mind) => (isArriving(mind) ? arrivalCommand(mind.origin?.importId ?? '') : null),
  snapshots: { version: 6, restore: savedMind },
};
