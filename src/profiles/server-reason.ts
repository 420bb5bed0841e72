/** How many nested causes of a failure are searched for a code. */
const MAX_CAUSES = 8;

const REFUSED = 'the server rejected the user or the password';
const UNKNOWN_HOST = 'the host name cannot be resolved';

/** The meaning of a code to an operator: SQLSTATEs of PostgreSQL, and Node's error codes. */
const REASONS: Readonly<Record<string, string>> = {
  '28000': REFUSED,
  '28P01': REFUSED,
  '3D000': 'the server has no database with this name',
  ENOTFOUND: UNKNOWN_HOST,
  EAI_AGAIN: UNKNOWN_HOST,
  ECONNREFUSED: 'nothing listens at this address',
};
/** Status codes of gRPC, whose numbers have other meanings in Kafka. */
const GRPC_REASONS: Readonly<Record<string, string>> = {
  '5': 'the server does not know this name',
  '7': 'the server denied permission',
  '14': 'the server is unreachable',
  '16': REFUSED,
};

const reasonOf = (error: Error): string | undefined => {
  if (!('code' in error)) return undefined;
  if (typeof error.code !== 'number') return REASONS[String(error.code)];
  return error.name.startsWith('KafkaJS') ? undefined : GRPC_REASONS[String(error.code)];
};

/**
 * The failure of a server's health check, as `GET /readyz` shows it publicly: if its code blames the setting, the name of the setting and what is
 * wrong, without an address or a user. Any other failure is returned unchanged.
 */
export const serverReason = (error: unknown, setting: string): Error => {
  const failure = error instanceof Error ? error : new Error(String(error));
  let cause: unknown = failure;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1, cause = cause.cause) {
    const reason = reasonOf(cause);
    if (reason !== undefined) return new Error(`Check ${setting}: ${reason}.`, { cause: failure });
  }
  return failure;
};
