import { hkdfSync } from 'node:crypto';

import type { RateLimit } from '../../kernel/base/rate-limit.js';
import type { Ports } from '../../ports/ports.js';
import type { SigningAlgorithm, SigningKeys } from '../../ports/signing-keys.js';
import type { ApiKeyDeps } from './api-keys.js';
import { KeyDirectory } from './key-directory.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { openSigningKeys } from './signing-keys.js';

/** Every use of the server's secret has its own key, so no key reveals anything about another. */
type SecretUse = 'api-key-hash' | 'signing-key-wrap';

/**
 * 32 bytes for one use: HKDF-SHA256 (RFC 5869) of the secret, labelled with the use.
 * @param secret the server's secret, at least 32 bytes
 */
const deriveKey = (secret: Uint8Array, use: SecretUse): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', `anima/v1/${use}`, 32));

export type OpenKeysDeps = {
  readonly ports: Pick<Ports, 'clock' | 'random' | 'events' | 'keyUsage'>;
  readonly writers: StreamWriters;
  /** The server's secret, at least 32 bytes. */
  readonly secret: Uint8Array;
  readonly settings: {
    readonly jwsAlg: SigningAlgorithm;
    readonly rateLimit: RateLimit | null;
    readonly tiersActive: boolean;
  };
  /** As in KeyDirectoryDeps. */
  readonly onCutOff: (error: unknown) => void;
};

/** Everything that depends on the server's secret. Dispose of `directory` in `apiKeys` before the store. */
export type OpenedKeys = { readonly signingKeys: SigningKeys; readonly apiKeys: ApiKeyDeps };

/**
 * Opens the signing keys and then the directory of API keys. In this order a wrong secret is noticed before anything depends on it.
 * @throws StartProblem if the secret is not the one used before; propagates errors from the event store
 */
export const openKeys = async ({ ports, writers, secret, settings, onCutOff }: OpenKeysDeps): Promise<OpenedKeys> => {
  const { clock, random, events, keyUsage } = ports;
  const wrapKey = deriveKey(secret, 'signing-key-wrap');
  const hashKey = deriveKey(secret, 'api-key-hash');
  const signingKeys = await openSigningKeys({ writers, events, clock, random, wrapKey, alg: settings.jwsAlg });
  const { rateLimit, tiersActive } = settings;
  const directory = await KeyDirectory.open({ events, clock, keyUsage, hashKey, rateLimit, tiersActive, onCutOff });
  return { signingKeys, apiKeys: { writers, events, clock, random, keyUsage, directory, hashKey } };
};
