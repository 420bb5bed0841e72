import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Exchanged = { readonly req: IncomingMessage; readonly res: ServerResponse };

/** What waits for each connection to close; one listener on it, however many requests a client sends ahead. */
const waiting = new WeakMap<Socket, Set<() => void>>();

const onConnectionClosed = (socket: Socket, run: () => void): Set<() => void> => {
  const known = waiting.get(socket);
  const runs = known ?? new Set();
  runs.add(run);
  if (known === undefined) {
    waiting.set(socket, runs);
    socket.once('close', () => {
      for (const each of runs) each();
    });
  }
  return runs;
};

/** Runs something once: when the answer was taken, or when the client has left. */
export const onClosed = ({ req, res }: Exchanged, run: () => void): void => {
  const { socket } = req;
  if (res.socket !== null && !res.closed) {
    res.once('close', run);
    return;
  }
  if (res.closed || socket.destroyed) {
    run();
    return;
  }
  // It waits for an earlier answer on its connection, and Node tells it nothing when that connection breaks.
  const closed = (): void => {
    res.off('close', closed);
    runs.delete(closed);
    run();
  };
  res.once('close', closed);
  const runs = onConnectionClosed(socket, closed);
};
