/** The minimum length of a secret in bytes of its text; a generated one has 256 random bits. */
export const SECRET_MIN_BYTES = 32;

/** Why a secret is refused, without revealing any of it; null if it is long enough. */
export const secretProblem = (text: string, where: string): string | null =>
  new TextEncoder().encode(text).length >= SECRET_MIN_BYTES
    ? null
    : `${where} is too short. Use at least ${String(SECRET_MIN_BYTES)} random characters, for example from "openssl rand -base64 32".`;
