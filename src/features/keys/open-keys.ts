import type { RateLimit } from '../../kernel/base/rate-limit.js';
import type { Seals } from '../../kernel/crypto/seals.js';
import { deriveKey } from '../../kernel/crypto/derive-key.js';
import type { Ports } from '../../ports/ports.js';
import type { SigningAlgorithm } from '../../ports/signing-keys.js';
import type { ApiKeyDeps } from './api-keys.js';
import { KeyDirectory } from './key-directory.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import type { ChangeSigningKeysDeps } from './change-signing-keys.js';
import { type KnownSigningKeys, openSigningKeys } from './signing-keys.js';

export type OpenKeysDeps = {
  readonly ports: Pick<Ports, 'clock' | 'random' | 'events' | 'keyUsage'>;
  readonly writers: StreamWriters;
  /** The server's secret, at least 32 bytes. */
  readonly secret: Uint8Array;
  /** Of events, made from this secret. */
  readonly seals: Seals;
  readonly settings: {
    readonly jwsAlg: SigningAlgorithm;
    readonly rateLimit: RateLimit | null;
    readonly tiersActive: boolean;
  };
  /** As in KeyDirectoryDeps. */
  readonly onCutOff: (error: unknown) => void;
};

/** Everything that depends on the server's secret. Dispose of `directory` in `apiKeys` before the store. */
export type OpenedKeys = {
  readonly signingKeys: KnownSigningKeys;
  readonly signingKeyChanges: ChangeSigningKeysDeps;
  readonly apiKeys: ApiKeyDeps;
};

/**
 * Opens the signing keys and then the directory of API keys. In this order a wrong secret is noticed before anything depends on it.
 * @throws StartProblem if the secret is not the one used before; propagates errors from the event store
 */
export const openKeys = async ({
  ports,
  writers,
  secret,
  seals,
  settings,
  onCutOff,
}: OpenKeysDeps): Promise<OpenedKeys> => {
  const { clock, random, events, keyUsage } = ports;
  const wrapKey = deriveKey(secret, 'signing-key-wrap');
  const hashKey = deriveKey(secret, 'api-key-hash');
  const signing = { writers, events, clock, random, wrapKey, seals, alg: settings.jwsAlg };
  const signingKeys = await openSigningKeys(signing);
  const { rateLimit, tiersActive } = settings;
  const { bornSealed } = signingKeys;
  const limits = { rateLimit, tiersActive };
  const directory = await KeyDirectory.open({
    events,
    clock,
    keyUsage,
    hashKey,
    seals,
    bornSealed,
    ...limits,
    onCutOff,
  });
  const signingKeyChanges = { ...signing, signingKeys };
  return { signingKeys, signingKeyChanges, apiKeys: { writers, events, clock, random, keyUsage, directory, hashKey } };
};
