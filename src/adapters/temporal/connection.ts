import { rootCertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';

import { Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';

import type { TlsAccess } from '../../ports/server-access.js';
import type { TemporalAddress } from './names.js';
import { refusedByTemporal } from './refusal.js';

/** The maximum pause of gRPC between two attempts to reach an unavailable server, in milliseconds. */
const RECONNECT_MS = 1_000;
/** Sends the messages and stack traces of failures as payloads. */
export const encodedFailures = fileURLToPath(new URL('encoded-failures.cjs', import.meta.url));

type TemporalServer = Pick<TemporalAddress, 'address' | 'tls' | 'apiKey'>;

/** A connection that is made on first use. Nothing below this retries: each caller has its own timeout. */
export const openConnection = (at: TemporalServer): Connection =>
  Connection.lazy({
    ...accessOf(at),
    interceptors: [],
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': RECONNECT_MS },
  });

/** A worker's connection. @throws Error that names the settings to check */
export const openNativeConnection = (at: TemporalServer): Promise<NativeConnection> =>
  NativeConnection.connect({
    ...accessOf(at),
    // To a server nearby, compression costs more than it saves.
    grpcCompression: { codec: 'none' },
  }).catch(refusedByTemporal);

/** How values become payloads, for clients and workers alike. */
export const dataConverterOf = ({ payloads = null }: Pick<TemporalAddress, 'payloads'>): DataConverter => {
  if (payloads === null) return {};
  return { payloadCodecs: [payloads], ...(payloads.encrypts ? { failureConverterPath: encodedFailures } : {}) };
};

const accessOf = ({ address, tls = null, apiKey = null }: TemporalServer) => ({
  address,
  ...(tls === null ? {} : { tls: tlsOf(tls) }),
  ...(apiKey === null ? {} : { apiKey }),
});

/**
 * Without explicit authorities a client would trust those that Node ships, and a worker those of the system, which a slim image does not have. Both
 * trust Node's.
 */
export const tlsOf = ({ ca, client, serverName }: TlsAccess) => ({
  serverRootCACertificate: Buffer.from(ca ?? rootCertificates.join('\n')),
  ...(client === null
    ? {}
    : { clientCertPair: { crt: Buffer.from(client.certificate), key: Buffer.from(client.key) } }),
  ...(serverName === null ? {} : { serverNameOverride: serverName }),
});
