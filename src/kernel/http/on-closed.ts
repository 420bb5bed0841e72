import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Exchanged = { readonly req: IncomingMessage; readonly res: ServerResponse };
type Runs = Set<() => void>;

/** What waits for a response, or for a connection: one listener on it, however much waits. */
const WAITING = Symbol('waiting');
type Closing = (ServerResponse | Socket) & { [WAITING]?: Runs };

const waitFor = (closing: Closing, run: () => void): Runs => {
  const known = closing[WAITING];
  const runs: Runs = known ?? new Set();
  runs.add(run);
  if (known === undefined) {
    closing[WAITING] = runs;
    closing.once('close', () => {
      for (const each of runs) each();
    });
  }
  return runs;
};

/**
 * Runs something once: when the answer was taken, or when the client has left.
 * @param run must not throw
 */
export const onClosed = ({ req, res }: Exchanged, run: () => void): void => {
  const { socket } = req;
  if (res.closed || (res.socket === null && socket.destroyed)) {
    run();
    return;
  }
  if (res.socket !== null) {
    waitFor(res, run);
    return;
  }
  // It waits for an earlier answer on its connection, and Node tells it nothing when that connection breaks.
  const closed = (): void => {
    ofResponse.delete(closed);
    ofSocket.delete(closed);
    run();
  };
  const ofResponse = waitFor(res, closed);
  const ofSocket = waitFor(socket, closed);
};
