import { setTimeout as sleep } from 'node:timers/promises';

/** How long to wait between two checks, in milliseconds. */
const LOOK_EVERY_MS = 100;

/**
 * Looks until `look` resolves with true.
 * @param what the end of the message "timed out after N s waiting for ..."
 * @throws Error when the limit (milliseconds) has passed; its cause is the last rejection of `look`. Before that a rejection counts as false.
 */
export const waitUntil = async (what: string, limitMs: number, look: () => Promise<boolean>): Promise<void> => {
  const end = performance.now() + limitMs;
  for (;;) {
    let cause: unknown;
    try {
      if (await look()) return;
    } catch (error) {
      cause = error;
    }
    if (performance.now() >= end) {
      const why = cause instanceof Error ? ` (${cause.message})` : '';
      throw new Error(`timed out after ${limitMs / 1000} s waiting for ${what}${why}`, { cause });
    }
    await sleep(LOOK_EVERY_MS);
  }
};
