import {
  type AllStreamResolvedEvent,
  type ResolvedEvent,
  type StreamingRead,
  StreamNotFoundError,
} from '@eventstore/db-client';

import type { Presence } from '../../concurrency/presence.js';
import { storeUnavailable } from './store-failures.js';

/** How long a read may go without an event before the store counts as silent, in milliseconds. */
export const READ_SILENCE_MS = 1_500;

/**
 * Passes the events of a read to `take`, one by one, until it says that it is enough; a missing stream gives none. The client's own deadline does not
 * apply to reads, so silence is timed here.
 * @returns whether `take` said so
 * @throws Rejection STORE_UNAVAILABLE, whatever kept the server from answering
 */
export const readEach = async <Event extends ResolvedEvent | AllStreamResolvedEvent>(
  open: () => StreamingRead<Event>,
  take: (event: Event) => boolean,
  presence: Pick<Presence, 'fellSilent' | 'answered'>,
): Promise<boolean> => {
  const reading = open();
  // The call may still fail after it is no longer read.
  reading.on('error', () => undefined);
  const cancel = (): void => void reading.cancel().catch(() => undefined);
  const silent = (): void => {
    presence.fellSilent();
    cancel();
    reading.destroy(storeUnavailable());
  };
  const timer = setTimeout(silent, READ_SILENCE_MS);
  try {
    for await (const event of reading as AsyncIterable<Event>) {
      timer.refresh();
      presence.answered();
      if (!take(event)) continue;
      cancel();
      return true;
    }
    presence.answered();
    return false;
  } catch (error) {
    if (error instanceof StreamNotFoundError) {
      presence.answered();
      return false;
    }
    throw storeUnavailable(error);
  } finally {
    clearTimeout(timer);
  }
};
