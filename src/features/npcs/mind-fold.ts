import { npcEvents } from './domain/events.js';
import { evolveMind, initialMind, isArriving, type MindState } from './domain/state.js';
import { savedMind } from './domain/saved-mind.js';
import type { Fold } from '../../kernel/streams/fold.js';

/** The id of the command that writes a soul into a mind, whichever process runs it. */
export const arrivalCommand = (importId: string): string => `arrival_${importId}`;

/** How a mind's stream is folded. Raise the version when `test/features/npcs/mind-fold.test.ts` asks for it. */
export const mindFold: Fold<MindState> = {
  initial: initialMind,
  evolve: evolveMind,
  versionOf: npcEvents.versionOf,
  heldFor: (mind) => (isArriving(mind) ? arrivalCommand(mind.origin?.importId ?? '') : null),
  // An imported soul may have gone to another mind while this one was archived.
  claims: (before, after) => before.archived && !after.archived && before.origin !== null,
  snapshots: { version: 14, restore: savedMind },
};
