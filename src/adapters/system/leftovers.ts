/** How long what did not end with the server may hold the process, in milliseconds. */
const LEFTOVERS_MS = 1_000;

/** Ends the process soon, to be called when all that was opened is closed: a thread that a library left behind holds nobody up (contract 11.3). */
export const endDespiteLeftovers = (): void => {
  setTimeout(() => process.exit(), LEFTOVERS_MS).unref();
};
