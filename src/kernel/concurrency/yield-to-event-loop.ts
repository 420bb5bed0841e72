/** Lets all other due work run first. Work through many events calls this after each page, so that other work need not wait for all of it. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
