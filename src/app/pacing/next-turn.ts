/** Lets everything else that is due run first. Work through many events pauses here after each page, so other work need not wait for all of it. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
