import type { KafkaAccess } from '../../ports/server-access.js';
import { type TlsRefusal, tlsRefusalIn } from '../shared/tls-refusal.js';

/** What a broker that speaks TLS, or asks who we are, does to a client that does not expect it. */
const hungUp = /ECONNRESET|closed connection|socket hang up|EPIPE/i;
/** The last is all that the client says of a group that we may not read. */
const noRight = /authorization failed|not authorized|failed to find group coordinator/i;

const settingsOf: Readonly<Record<TlsRefusal, string>> = {
  untrusted: 'KAFKA_TLS_CA_FILE: it must hold the authority of the brokers’ certificates',
  otherName: 'KAFKA_BROKERS: the brokers’ certificates bear other names',
  expired: 'the brokers’ certificates',
  clientCertificate: 'KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE: the brokers ask for a certificate that they trust',
  noTls: 'KAFKA_TLS: these brokers do not seem to speak TLS',
};

/**
 * What the client reported with the setting to look at, when brokers were reached and refuse us; any other failure as it is.
 * @param access how brokers were spoken to for the first time; null when they had answered before, so that hanging up tells nothing
 */
export const kafkaRefusal = (error: unknown, access: KafkaAccess | null = null): Error => {
  const failure = error instanceof Error ? error : new Error(String(error));
  const message = messageOf(failure);
  const advice = adviceOn(failure.name, message, access);
  return advice === null ? failure : new Error(`${message} Look at ${advice}.`, { cause: failure });
};

/** For failed promises. @throws as `kafkaRefusal` says, for brokers that had answered before */
export const refuse = (error: unknown): never => {
  throw kafkaRefusal(error);
};

/** What failed for several topics is one failure that says nothing itself. */
const messageOf = (failure: Error & { readonly errors?: unknown }): string => {
  const { errors } = failure;
  const inner: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const messages = inner.flatMap((each) => (each instanceof Error ? [each.message] : []));
  return [failure.message, ...messages].join(': ');
};

const adviceOn = (name: string, message: string, access: KafkaAccess | null): string | null => {
  if (/SASL .* mechanism is not supported/i.test(message)) return 'KAFKA_SASL_MECHANISM';
  if (name === 'KafkaJSSASLAuthenticationError' || /SASL|authentication failed/i.test(message)) {
    return 'KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD and KAFKA_SASL_MECHANISM';
  }
  if (noRight.test(message))
    return 'the rights of KAFKA_SASL_USERNAME (docs/operations.md, "What Anima may do on each server")';
  const refusal = tlsRefusalIn(message);
  if (refusal !== null) return settingsOf[refusal];
  if (access === null || !hungUp.test(message)) return null;
  if (access.tls === null) return 'KAFKA_TLS: these brokers may speak TLS alone';
  return access.sasl === null ? 'KAFKA_SASL_MECHANISM: these brokers may ask who we are' : null;
};
