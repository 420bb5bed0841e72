/** kafkajs reports a wrong setting, a missing right and an unavailable broker in the same way, so every failure names all that may be wrong. */
const HINT =
  'If this persists, check KAFKA_BROKERS, KAFKA_TLS*, KAFKA_SASL*, and the permissions of that user (see "TLS and credentials" in the docs).';

/** The client's failure with a hint at the settings to check; the failure itself is its cause. */
export const kafkaRefusal = (error: unknown): Error => {
  const failure = error instanceof Error ? error : new Error(String(error));
  return new Error(`${messageOf(failure)} (${HINT})`, { cause: failure });
};

/** For failed promises. @throws as `kafkaRefusal` returns */
export const refusing = (error: unknown): never => {
  throw kafkaRefusal(error);
};

/** A failure of several topics holds one error for each and has no message itself. */
const messageOf = (failure: Error & { readonly errors?: unknown }): string => {
  const inner: readonly unknown[] = Array.isArray(failure.errors) ? failure.errors : [];
  return [failure, ...inner].flatMap((each) => (each instanceof Error ? [each.message] : [])).join(': ');
};
