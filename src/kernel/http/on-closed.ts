import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Exchanged = { readonly req: IncomingMessage; readonly res: ServerResponse };
type Runs = Set<() => void>;

/** The callbacks that wait for a response or a connection: they share one listener, however many there are. */
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
 * Runs a callback once: when the response was read, or when the client has disconnected.
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
  // It waits for an earlier response on its connection, and Node does not notify it if that connection breaks.
  const closed = (): void => {
    ofResponse.delete(closed);
    ofSocket.delete(closed);
    run();
  };
  const ofResponse = waitFor(res, closed);
  const ofSocket = waitFor(socket, closed);
};
