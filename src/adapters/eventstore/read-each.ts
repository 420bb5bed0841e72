import {
  type AllStreamResolvedEvent,
  type ResolvedEvent,
  type StreamingRead,
  StreamNotFoundError,
} from '@eventstore/db-client';

import { storeUnavailable } from './store-failures.js';

/** How long a read may go without an event, in milliseconds, and who is told when it went longer, and when the server answered. */
export type Silence = { readonly ms: number; readonly noted: () => void; readonly broken: () => void };

/**
 * Passes the events of a read to `take`, one by one, until it says that it is enough; a missing stream gives none. The client's own deadline does not
 * apply to reads, so silence is timed here.
 * @returns whether `take` said so
 * @throws Rejection STORE_UNAVAILABLE, whatever kept the server from answering
 */
export const readEach = async <Event extends ResolvedEvent | AllStreamResolvedEvent>(
  open: () => StreamingRead<Event>,
  take: (event: Event) => boolean,
  silence: Silence,
): Promise<boolean> => {
  const reading = open();
  // The call may still fail after it is no longer read.
  reading.on('error', () => undefined);
  const cancel = (): void => void reading.cancel().catch(() => undefined);
  const silent = (): void => {
    silence.noted();
    cancel();
    reading.destroy(storeUnavailable());
  };
  const timer = setTimeout(silent, silence.ms);
  try {
    for await (const event of reading as AsyncIterable<Event>) {
      timer.refresh();
      silence.broken();
      if (!take(event)) continue;
      cancel();
      return true;
    }
    silence.broken();
    return false;
  } catch (error) {
    if (error instanceof StreamNotFoundError) {
      silence.broken();
      return false;
    }
    throw storeUnavailable(error);
  } finally {
    clearTimeout(timer);
  }
};
