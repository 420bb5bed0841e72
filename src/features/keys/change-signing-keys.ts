import { signingKeysStream } from '../../kernel/base/stream-names.js';
import { type Command, runCommand } from '../../kernel/streams/run-command.js';
import { addSigningKey, revokeSigningKey, type SigningKeyRevocation } from './domain/decide-signing-keys.js';
import type { SigningKey } from './domain/signing-key-state.js';
import { makeSigningKey } from './make-signing-key.js';
import { signingKeyFold } from './signing-key-fold.js';
import type { KnownSigningKeys, SigningKeyDeps } from './signing-keys.js';

/** Dependencies of changes to the signing keys. */
export type ChangeSigningKeysDeps = SigningKeyDeps & { readonly signingKeys: KnownSigningKeys };

const found = (keys: readonly SigningKey[], kid: string): SigningKey => {
  const key = keys.find((one) => one.kid === kid);
  if (key === undefined) throw new Error(`the signing key ${kid} was recorded but cannot be found`);
  return key;
};

/**
 * Makes a key of the same algorithm, which signs from now on; on other servers within a second. A repeat of the command returns the key that it made.
 * Refuses with SIGNING_KEYS_FULL; propagates errors from the event store.
 */
export const rotateSigningKey = async (deps: ChangeSigningKeysDeps, command: Command): Promise<SigningKey> => {
  const made = makeSigningKey(deps);
  const { events } = await runCommand(deps, signingKeysStream, signingKeyFold, command, (keys) =>
    addSigningKey(keys, made),
  );
  await deps.signingKeys.refresh();
  const kid = events[0]?.data['kid'];
  return found(deps.signingKeys.all(), typeof kid === 'string' ? kid : made.kid);
};

/**
 * Revokes a key, with immediate effect on this server. Refuses with SIGNING_KEY_NOT_FOUND and SIGNING_KEY_CURRENT; propagates errors from the event
 * store.
 */
export const revokeSigningKeySince = async (
  deps: ChangeSigningKeysDeps,
  revocation: SigningKeyRevocation,
  command: Command,
): Promise<SigningKey> => {
  await runCommand(deps, signingKeysStream, signingKeyFold, command, (keys) =>
    revokeSigningKey(keys, deps.alg, revocation),
  );
  await deps.signingKeys.refresh();
  return found(deps.signingKeys.all(), revocation.kid);
};
