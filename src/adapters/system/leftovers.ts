/** How long leftover work may keep the process alive after the server has ended, in milliseconds. */
const LEFTOVERS_MS = 1_000;

/** Ends the process soon. Call it once everything that was opened is closed, so that a thread left behind by a library does not delay the exit. */
export const endDespiteLeftovers = (): void => {
  setTimeout(() => process.exit(), LEFTOVERS_MS).unref();
};
