/** Lets everything else that is due run first: what goes through many events does so page by page, and nobody waits for the whole of it. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
