import type { KafkaAccess } from '../../ports/server-access.js';
import { type TlsRefusal, tlsRefusalIn } from '../shared/tls-refusal.js';

/** What a broker that speaks TLS, or asks who we are, does to a client that does not expect it. */
const hungUp = /ECONNRESET|closed connection|socket hang up|EPIPE/i;
const noRight = /authorization failed|not authorized/i;
/** All that the client says of a group or a transactional id that we may not use, of a coordinator that is away, and of one that cannot be made. */
const noCoordinator = /failed to find group coordinator/i;

/** Neither TLS nor a name. */
export const PLAIN: KafkaAccess = { tls: null, sasl: null };

const settingsOf: Readonly<Record<TlsRefusal, string>> = {
  untrusted: 'KAFKA_TLS_CA_FILE: it must hold the authority of the brokers’ certificates',
  otherName: 'KAFKA_BROKERS: the brokers’ certificates bear other names',
  expired: 'the brokers’ certificates',
  clientCertificate: 'KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE: the brokers ask for a certificate that they trust',
  noTls: 'KAFKA_TLS: these brokers do not seem to speak TLS',
};

/**
 * What the client reported with the setting to look at, when brokers were reached and refuse us; any other failure as it is.
 * @param access how brokers are spoken to; without it the connection is plain and nobody is named
 * @param isFirst whether they have never answered; once they have, hanging up tells nothing
 */
export const kafkaRefusal = (error: unknown, access: KafkaAccess = PLAIN, isFirst = false): Error => {
  const failure = error instanceof Error ? error : new Error(String(error));
  const message = messageOf(failure);
  const advice = adviceOn(failure.name, message, access) ?? (isFirst ? adviceOnHangingUp(message, access) : null);
  return advice === null ? failure : new Error(`${message} Look at ${advice}.`, { cause: failure });
};

/** For failed promises: throws as `kafkaRefusal` says, for brokers that had answered before. */
export const refusing =
  (access?: KafkaAccess) =>
  (error: unknown): never => {
    throw kafkaRefusal(error, access);
  };

/** What failed for several topics is one failure that says nothing itself. */
const messageOf = (failure: Error & { readonly errors?: unknown }): string => {
  const { errors } = failure;
  const inner: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const messages = inner.flatMap((each) => (each instanceof Error ? [each.message] : []));
  return [failure.message, ...messages].join(': ');
};

const adviceOn = (name: string, message: string, { tls, sasl }: KafkaAccess): string | null => {
  if (/SASL .* mechanism is not supported/i.test(message)) return 'KAFKA_SASL_MECHANISM';
  if (name === 'KafkaJSSASLAuthenticationError' || /SASL|authentication failed/i.test(message)) {
    return 'KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD and KAFKA_SASL_MECHANISM';
  }
  const isNamed = sasl !== null || (tls?.client ?? null) !== null;
  if (noRight.test(message) || (isNamed && noCoordinator.test(message))) return RIGHTS;
  if (noCoordinator.test(message)) return COORDINATOR;
  const refusal = tlsRefusalIn(message);
  return refusal === null ? null : settingsOf[refusal];
};

const RIGHTS = 'the rights of KAFKA_SASL_USERNAME (docs/operations.md, "What Anima may do on each server")';
const COORDINATOR =
  'the brokers: the coordinator is away. A single broker needs offsets.topic.replication.factor=1 and transaction.state.log.replication.factor=1 (docs/operations.md, "The public topic")';

const adviceOnHangingUp = (message: string, { tls, sasl }: KafkaAccess): string | null => {
  if (!hungUp.test(message)) return null;
  if (tls === null) return 'KAFKA_TLS: these brokers may speak TLS alone';
  return sasl === null ? 'KAFKA_SASL_MECHANISM: these brokers may ask who we are' : null;
};
