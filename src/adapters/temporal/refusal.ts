import { isGrpcServiceError } from '@temporalio/client';

import { type TlsRefusal, tlsRefusalIn } from '../shared/tls-refusal.js';
import type { TemporalAddress } from './names.js';

/** gRPC's status codes of a server that does not know us, our rights or our namespace, and how a worker's connection says the same. */
const unauthenticated = { code: 16, words: /does not have valid authentication credentials/ };
const permissionDenied = { code: 7, words: /does not have permission/ };
const notFound = { code: 5, words: /Namespace .* (?:was|is) not found/ };
/**
 * A server that was reached and hung up: it speaks TLS and we do not, or it wants another certificate, which TLS 1.3 tells a client too late. gRPC's
 * library for Node says no more than "Failed to connect"; where nobody listens it says why.
 */
const hungUp =
  /Last error: (?:Failed to connect|read ECONNRESET)|ConnectionReset|BrokenPipe|UnexpectedEof|connection closed|FRAME_SIZE_ERROR/;

const settingsOf: Readonly<Record<TlsRefusal, string>> = {
  untrusted: 'TEMPORAL_TLS_CA_FILE: it must hold the authority of the server’s certificate',
  otherName: 'TEMPORAL_TLS_SERVER_NAME: it must be a name in the server’s certificate',
  expired: 'the server’s certificate',
  clientCertificate:
    'TEMPORAL_TLS_CERT_FILE and TEMPORAL_TLS_KEY_FILE: the server asks for a certificate that it trusts',
  noTls: 'TEMPORAL_TLS: this server does not seem to speak TLS',
};

/** The failure of a call with the setting to look at, when the server was reached and refuses us; any other failure as it is. */
export const temporalRefusal = (error: unknown, at: Pick<TemporalAddress, 'tls' | 'apiKey'>): Error => {
  const failure = error instanceof Error ? error : new Error(String(error));
  const advice = adviceOn(failure, at);
  return advice === null ? failure : new Error(`${failure.message} Look at ${advice}.`, { cause: failure });
};

const adviceOn = (
  failure: Error,
  { tls = null, apiKey = null }: Pick<TemporalAddress, 'tls' | 'apiKey'>,
): string | null => {
  const { message } = failure;
  const code: number | null = isGrpcServiceError(failure) ? failure.code : null;
  const says = (status: typeof unauthenticated): boolean => code === status.code || status.words.test(message);
  if (says(unauthenticated)) {
    return apiKey === null
      ? 'TEMPORAL_API_KEY or TEMPORAL_TLS_CERT_FILE: the server does not know who asks'
      : 'TEMPORAL_API_KEY: the server does not know this key';
  }
  if (says(permissionDenied)) {
    return 'TEMPORAL_NAMESPACE and the rights in it of who asks (docs/operations.md, "What Anima may do on each server")';
  }
  if (says(notFound)) return 'TEMPORAL_NAMESPACE: the server has no namespace of this name';
  const refusal = tlsRefusalIn(message);
  if (refusal !== null) return settingsOf[refusal];
  if (!hungUp.test(message)) return null;
  return tls === null
    ? 'TEMPORAL_TLS: this server hung up, as one does that speaks TLS alone'
    : 'TEMPORAL_TLS_CERT_FILE and TEMPORAL_TLS_KEY_FILE: this server hung up, as one does that wants another certificate';
};
