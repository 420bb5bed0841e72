import { readFile } from 'node:fs/promises';

import { type Certificate, makeAuthority, makeCertificate } from '../../scripts/servers/certificates.js';
import type { TlsAccess } from '../../src/ports/server-access.js';
import { temporaryDirectory } from './temporary-directory.js';

const LOCAL = ['DNS:localhost', 'IP:127.0.0.1'];

/** An authority with a server and a client, and another authority with an unknown client. All are files. */
export const openCertificates = async () => {
  const directory = await temporaryDirectory();
  const [authority, other] = await Promise.all(
    ['authority', 'other'].map((name) => makeAuthority(directory.path, name)),
  );
  if (authority === undefined || other === undefined) throw new Error('two authorities are made');
  const make = (name: string, by: Certificate, hosts = LOCAL) =>
    makeCertificate(directory.path, name, { authority: by, hosts });
  const [server, elsewhere, client, stranger] = await Promise.all([
    make('server', authority),
    make('elsewhere', authority, ['DNS:temporal.studio.example']),
    make('client', authority),
    make('stranger', other),
  ]);
  return {
    path: directory.path,
    authority,
    other,
    server,
    /** A server's, for another name. */
    elsewhere,
    client,
    stranger,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
};

/** A client's trusted authority and its own certificate, from files. */
export const tlsAccessOf = async (
  authority: Certificate | null,
  client: Certificate | null = null,
  serverName: string | null = null,
): Promise<TlsAccess> => {
  const textOf = (file: string): Promise<string> => readFile(file, 'utf8');
  return {
    ca: authority === null ? null : await textOf(authority.certificate),
    client: client === null ? null : { certificate: await textOf(client.certificate), key: await textOf(client.key) },
    serverName,
  };
};
