export const TEMPORAL_SETTINGS =
  'TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TLS, TEMPORAL_TLS_CA_FILE, TEMPORAL_TLS_SERVER_NAME, TEMPORAL_TLS_CERT_FILE, TEMPORAL_TLS_KEY_FILE and TEMPORAL_API_KEY';
/**
 * A server that is unavailable, that does not know this client, or that speaks TLS where this client does not, looks alike from here, so every
 * failure names all that may be wrong.
 */
const HINT = `Check ${TEMPORAL_SETTINGS}, and the permissions of that user (see "TLS and credentials" in the docs).`;

/** For failed promises. @throws Error the failure of the client or the worker, with the settings to check; its cause is the failure itself */
export const refusedByTemporal = (error: unknown): never => {
  const failure = error instanceof Error ? error : new Error(String(error));
  throw new Error(`${failure.message} ${HINT}`, { cause: failure });
};
