export const TEMPORAL_SETTINGS =
  'TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TLS, TEMPORAL_TLS_CA_FILE, TEMPORAL_TLS_SERVER_NAME, TEMPORAL_TLS_CERT_FILE, TEMPORAL_TLS_KEY_FILE and TEMPORAL_API_KEY';
/** A server that is away, that does not know us, or that speaks TLS where we do not, looks alike from here, so every failure names all that may be wrong. */
const HINT = `Look at ${TEMPORAL_SETTINGS}, and at the rights of its user: docs/operations.md, "What Anima may do on each server".`;

/** For failed promises. @throws Error what the client or the worker says, with the settings to look at; its cause is the failure itself */
export const refusedByTemporal = (error: unknown): never => {
  const failure = error instanceof Error ? error : new Error(String(error));
  throw new Error(`${failure.message} ${HINT}`, { cause: failure });
};
