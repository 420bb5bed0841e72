import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { yieldToEventLoop } from '../../src/kernel/concurrency/yield-to-event-loop.js';

/** Where Node announces each connection that a server accepts. */
const ACCEPTED = 'net.server.socket';

/** Where the head of a response ends; undefined while it is incomplete. */
const headEnd = (bytes: Buffer): number | undefined => {
  const at = bytes.indexOf('\r\n\r\n');
  return at === -1 ? undefined : at + 4;
};

/** Where the chunk that begins at `from` ends, and whether it is the last one. */
const chunkEnd = (bytes: Buffer, from: number): { readonly end: number; readonly last: boolean } | undefined => {
  const line = bytes.indexOf('\r\n', from);
  if (line === -1) return undefined;
  const size = parseInt(bytes.toString('latin1', from, line), 16);
  const end = line + 2 + size + 2;
  return end > bytes.length ? undefined : { end, last: size === 0 };
};

const chunksEnd = (bytes: Buffer, from: number): number | undefined => {
  for (let at = from; ;) {
    const chunk = chunkEnd(bytes, at);
    if (chunk === undefined || chunk.last) return chunk?.end;
    at = chunk.end;
  }
};

/** Where a complete response ends; an interim one (1xx) is a response too. */
const answerEnd = (bytes: Buffer, toHead: boolean): number | undefined => {
  const end = headEnd(bytes);
  if (end === undefined) return undefined;
  const head = bytes.toString('latin1', 0, end);
  if (toHead || /^HTTP\/1\.1 (1..|204|304)/.test(head)) return end;
  if (/^transfer-encoding: chunked\r$/im.test(head)) return chunksEnd(bytes, end);
  const length = /^content-length: (\d+)\r$/im.exec(head)?.[1];
  // Without a length the response ends with the connection.
  if (length === undefined || end + Number(length) > bytes.length) return undefined;
  return end + Number(length);
};

/** The server's side of a connection from `port`, once it is accepted. */
const acceptedFrom = (port: () => number | undefined): Promise<Socket> =>
  new Promise((resolve) => {
    const look = (message: unknown): void => {
      const { socket } = message as { readonly socket: Socket };
      if (socket.remotePort !== port()) return;
      unsubscribe(ACCEPTED, look);
      resolve(socket);
    };
    subscribe(ACCEPTED, look);
  });

export type Connection = Disposable & {
  send(bytes: Buffer): void;
  /** The next response, or the rest of one whose beginning was read; an incomplete one when the server closes the connection. */
  answer(): Promise<Buffer>;
  /** The next piece of a chunked response: its head, or one chunk. */
  piece(): Promise<Buffer>;
  /** Everything until the server closes the connection. */
  rest(): Promise<Buffer>;
  /** Ends the connection without waiting, and resolves when the server has noticed. @returns bytes that were sent and not read */
  leave(): Promise<Buffer>;
};

/** Connects to a server in this process, to read and write bytes. Responses are separated by HTTP's own framing, never by time. */
export const openConnection = async (port: number): Promise<Connection> => {
  const socket = connect({ port, host: '127.0.0.1' });
  const accepting = acceptedFrom(() => socket.localPort);
  await once(socket, 'connect');
  const served = await accepting;
  const incoming: AsyncIterator<Buffer, unknown> = socket.iterator({ destroyOnReturn: false });
  let unread = Buffer.alloc(0);
  let received = 0;
  let isClosed = false;
  let isInBody = false;
  const methods: string[] = [];
  socket.on('error', () => undefined);

  const receive = async (): Promise<void> => {
    // A connection that was reset is closed as well.
    const step = await incoming.next().catch(() => ({ done: true, value: undefined }) as const);
    if (step.done === true) {
      isClosed = true;
      return;
    }
    received += step.value.length;
    unread = Buffer.concat([unread, step.value]);
  };
  const take = (end: number): Buffer => {
    const taken = unread.subarray(0, end);
    unread = unread.subarray(end);
    return taken;
  };
  const read = async (endOf: () => number | undefined): Promise<Buffer> => {
    for (;;) {
      const end = endOf();
      if (end !== undefined || isClosed) return take(end ?? unread.length);
      await receive();
    }
  };

  return {
    send: (bytes) => {
      for (const [, method = ''] of bytes.toString('latin1').matchAll(/^([A-Z]+) \S+ HTTP\/1\.[01]\r$/gm))
        methods.push(method);
      socket.write(bytes);
    },
    answer: async () => {
      const answer = await read(() => (isInBody ? chunksEnd(unread, 0) : answerEnd(unread, methods[0] === 'HEAD')));
      isInBody = false;
      if (!answer.toString('latin1').startsWith('HTTP/1.1 1')) methods.shift();
      return answer;
    },
    piece: async () => {
      const piece = await read(() => (isInBody ? chunkEnd(unread, 0)?.end : headEnd(unread)));
      isInBody = !/^0\r\n/.test(piece.toString('latin1'));
      return piece;
    },
    rest: () => read(() => undefined),
    leave: async () => {
      while (!served.destroyed && served.bytesRead < socket.bytesWritten) await yieldToEventLoop();
      while (received < served.bytesWritten && !isClosed) await receive();
      socket.destroy();
      if (!served.closed) await once(served, 'close');
      return unread;
    },
    [Symbol.dispose]: () => socket.destroy(),
  };
};
