import { nextTurn } from '../../src/app/pacing/next-turn.js';

/** Lets everything run that waits for at most this many turns of the event loop. */
export const settle = async (turns = 20): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
};
