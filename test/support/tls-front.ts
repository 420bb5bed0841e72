import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';

import type { Certificate } from '../../scripts/servers/certificates.js';

export type TlsFrontOptions = {
  /** host:port of the plain server behind it. */
  readonly target: string;
  readonly server: Certificate;
  /** Who must have signed the certificate that clients show; null asks for none. */
  readonly clientsOf: Certificate | null;
};

/** Speaks TLS for a server that does not, as a load balancer does: HTTP/2 alone, and with certificates of clients when told to. */
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
