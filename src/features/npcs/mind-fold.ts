import { npcEvents } from './domain/events.js';
import { evolveMind, initialMind, isArriving, type MindState } from './domain/state.js';
import { savedMind } from './domain/saved-mind.js';
import type { Fold } from '../../kernel/streams/fold.js';

/** The command that writes a soul into a mind, whoever carries it out. */
export const arrivalCommand = (importId: string): string => `arrival_${importId}`;

/** How a mind's stream is folded. Raise its version whenever `test/features/npcs/mind-fold.test.ts` says so. */
export const mindFold: Fold<MindState> = {
  initial: initialMind,
  evolve: evolveMind,
  versionOf: npcEvents.versionOf,
  heldFor: (mind) => (isArriving(mind) ? arrivalCommand(mind.origin?.importId ?? '') : null),
  snapshots: { version: 6, restore: savedMind },
};
