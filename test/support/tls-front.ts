import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';

import type { Certificate } from '../../scripts/servers/certificates.js';

export type TlsFrontOptions = {
  /** host:port of the plain server behind it. */
  readonly target: string;
  readonly server: Certificate;
  /** The authority that must have signed the certificates of clients; null requires none. */
  readonly clientsOf: Certificate | null;
};

/** Terminates TLS for a plain server, as a load balancer does: HTTP/2 only, and with client certificates on request. */
export const openTlsFront = async ({ target, server, clientsOf }: TlsFrontOptions) => {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<TLSSocket>();
  const front = createServer(
    {
      cert: await readFile(server.certificate),
      key: await readFile(server.key),
      ALPNProtocols: ['h2'],
      ...(clientsOf === null
        ? {}
        : { ca: await readFile(clientsOf.certificate), requestCert: true, rejectUnauthorized: true }),
    },
    (socket) => {
      const upstream = connect({ host, port: Number(port) });
      sockets.add(socket);
      socket.on('error', () => upstream.destroy()).on('close', () => sockets.delete(socket));
      upstream.on('error', () => socket.destroy());
      socket.pipe(upstream).pipe(socket);
    },
  );
  await new Promise<void>((resolve, reject) => front.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${String((front.address() as AddressInfo).port)}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => front.close(resolve));
    },
  };
};
