import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const sockets: Socket[] = [];

/** A connection to a server on this machine. With `allowHalfOpen` it can still send after the server has ended its side. */
export const openSocket = async (port: number, options: { readonly allowHalfOpen?: true } = {}): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', ...options });
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
};

/** Ends every connection that a test of this file has opened, before its server stops. */
export const closeSockets = (): void => {
  for (const socket of sockets.splice(0)) socket.destroy();
};

/** Everything that the server sends until it closes. */
export const heard = async (socket: Socket): Promise<string> => {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  // A paused socket does not resume by itself.
  socket.resume();
  await once(socket, 'close');
  return text;
};
