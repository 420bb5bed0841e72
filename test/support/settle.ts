import { yieldToEventLoop } from '../../src/kernel/concurrency/yield-to-event-loop.js';

/** Lets everything run that waits for at most this many turns of the event loop. */
export const settle = async (turns = 20): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await yieldToEventLoop();
};
