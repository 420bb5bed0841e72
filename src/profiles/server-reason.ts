/** How far down a failure's causes the reason is looked for. */
const MAX_CAUSES = 8;

/** What a code (of Node, or PostgreSQL's SQLSTATE) or a message means to who runs the server. */
const reasons: readonly { readonly says: RegExp; readonly reason: string }[] = [
  { says: /^28\w{3} |\bUNAUTHENTICATED\b/, reason: 'the server refuses the user or the password' },
  { says: /^3D000 /, reason: 'the server has no database of this name' },
  { says: /\b(ENOTFOUND|EAI_AGAIN)\b|Name resolution failed/, reason: 'no host of this name is known' },
  { says: /\bECONNREFUSED\b/, reason: 'nobody listens at this address' },
];

const textOf = (failure: Error): string => {
  const code = 'code' in failure ? failure.code : '';
  return `${typeof code === 'string' || typeof code === 'number' ? code : ''} ${failure.message}`;
};

/**
 * The failure of a server that was asked whether it is there, as `GET /readyz` tells it to anybody: where the setting is to blame, its name and
 * what is wrong, and no address or user. Any other failure as it is.
 */
export const serverReason = (error: unknown, setting: string): Error => {
  const failure = error instanceof Error ? error : new Error(String(error));
  let cause: unknown = failure;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1, cause = cause.cause) {
    const text = textOf(cause);
    const found = reasons.find(({ says }) => says.test(text));
    if (found !== undefined) return new Error(`Look at ${setting}: ${found.reason}.`, { cause: failure });
  }
  return failure;
};
