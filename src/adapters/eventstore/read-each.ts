import { setTimeout as sleep } from 'node:timers/promises';

import {
  type AllStreamResolvedEvent,
  type ResolvedEvent,
  type StreamingRead,
  StreamNotFoundError,
} from '@eventstore/db-client';

import type { Presence } from '../../kernel/concurrency/presence.js';
import { READ_SILENCE_MS, type StoreConnection } from './store-connection.js';
import { readRefused, storeUnavailable, wantsLeader } from './store-failures.js';

/** How long a call waits for a leader, in milliseconds: an election takes about two seconds. Also the pause before it asks again. */
export const ELECTION_MS = 4_000;
export const ASK_AGAIN_MS = 50;

/** Receives whether the store answers. */
export type Watched = {
  readonly presence: Pick<Presence, 'fellSilent' | 'answered'>;
  readonly connection: Pick<StoreConnection, 'node' | 'foundNoLeader'>;
};

/** The client left the node before it answered. */
class NodeLeft extends Error {}

/**
 * Passes the events of a read to `take`, one by one, until it returns that it is enough; a missing stream gives none. If a node is not the leader, or
 * knows none, the read is repeated, at the node that it names or at another one if the client left it, while nothing was taken.
 * @returns whether `take` returned so
 * @throws Rejection STORE_UNAVAILABLE, whatever kept the server from answering
 */
export const readEach = async <Event extends ResolvedEvent | AllStreamResolvedEvent>(
  open: () => StreamingRead<Event>,
  take: (event: Event) => boolean,
  watched: Watched,
): Promise<boolean> => {
  const until = performance.now() + ELECTION_MS;
  const progress = { taken: false };
  const taking = (event: Event): boolean => {
    progress.taken = true;
    return take(event);
  };
  for (;;) {
    try {
      return await readOnce(open, taking, watched);
    } catch (error) {
      const isElecting = wantsLeader(error);
      if (progress.taken || !(isElecting || error instanceof NodeLeft) || performance.now() > until)
        throw readRefused(error);
      if (isElecting) watched.connection.foundNoLeader();
      // By then the client has turned to the node that was named.
      await sleep(ASK_AGAIN_MS);
    }
  }
};

/** The client's own deadline does not apply to reads, so silence is timed here. @throws what kept the server from answering */
const readOnce = async <Event extends ResolvedEvent | AllStreamResolvedEvent>(
  open: () => StreamingRead<Event>,
  take: (event: Event) => boolean,
  { presence, connection: { node } }: Watched,
): Promise<boolean> => {
  const reading = open();
  // The call may still fail after it is no longer read.
  reading.on('error', () => undefined);
  const cancel = (): void => void reading.cancel().catch(() => undefined);
  let heard = 0;
  let isOver = false;
  const end = (error: Error): void => {
    cancel();
    reading.destroy(error);
  };
  const silent = (): void => {
    // The silence of another node shows nothing about this one.
    const isLeft = node.aborted;
    // First this read ends, which showed the silence.
    end(storeUnavailable());
    if (!isLeft) presence.fellSilent();
  };
  // A read that the node still serves continues there.
  const left = (): void => {
    if (heard === 0) end(new NodeLeft('The connection to the node was closed before it responded.'));
  };
  node.addEventListener('abort', left, { once: true });
  const timer = setTimeout(() => {
    const before = heard;
    // If this process's event loop was blocked, the data that has arrived meanwhile is read first.
    setImmediate(() => {
      if (!isOver && heard === before) silent();
    });
  }, READ_SILENCE_MS);
  try {
    for await (const event of reading as AsyncIterable<Event>) {
      heard += 1;
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
    throw error;
  } finally {
    isOver = true;
    node.removeEventListener('abort', left);
    clearTimeout(timer);
  }
};
