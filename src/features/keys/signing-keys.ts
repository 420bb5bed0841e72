import { createPublicKey, type KeyObject, sign as signBytes } from 'node:crypto';

import { CompactSign } from 'jose';

import { jcs, type JsonObject } from '../../kernel/base/json.js';
import { isChainBroken } from '../../kernel/streams/event-checks.js';
import { StartProblem } from '../../kernel/base/start-problem.js';
import { localTenant, signingKeysStream } from '../../kernel/base/stream-names.js';
import { currentSigningKey, isRevokedAt, type SigningKey, type SigningKeyState } from './domain/signing-key-state.js';
import { ed25519Jwk } from '../../kernel/crypto/jwk.js';
import type { Seals } from '../../kernel/crypto/seals.js';
import type { Random } from '../../ports/random.js';
import type { JwsHeader, SigningAlgorithm, SigningKeys } from '../../ports/signing-keys.js';
import { makeCommandId } from '../../kernel/streams/command-id.js';
import { unwrap } from './key-wrap.js';
import { isBornSealed, makeSigningKey, privateKeyOf, publicHalf } from './make-signing-key.js';
import { nothingRead, type ReadKeys, readSigningKeys } from './read-signing-keys.js';
import { signingKeyFold } from './signing-key-fold.js';
import { type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';
import { spaceReads } from '../../kernel/streams/spaced-reads.js';

export type SigningKeyDeps = CommandDeps & {
  readonly random: Random;
  /** 32 bytes: `deriveKey(secret, 'signing-key-wrap')`. */
  readonly wrapKey: Uint8Array;
  /** Of events. */
  readonly seals: Seals;
  /** `ANIMA_JWS_ALG`. A key keeps the name under which it was made; another name makes another key. */
  readonly alg: SigningAlgorithm;
};

/** The signing keys of a process, and what is known of them. */
export type KnownSigningKeys = SigningKeys & {
  /** Every key, oldest first, as far as it is known here. */
  readonly all: () => SigningKeyState;
  /** Reads new events of the stream, so that they count here. @throws Rejection CHAIN_BROKEN; errors from the event store */
  readonly refresh: () => Promise<void>;
  /** Whether the store has had seals since its beginning, so that no event of it may lack one. */
  readonly bornSealed: boolean;
};

type OpenedKey = Pick<SigningKey, 'alg' | 'x'> & { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

const opened = (wrapKey: Uint8Array, { kid, alg, x, wrapped }: SigningKey): OpenedKey => {
  const seed = unwrap(wrapKey, kid, wrapped);
  if (seed === null) {
    throw new StartProblem(
      'The stored data was created with a different secret. Restore the earlier secret in ANIMA_SECRET, in the file that ' +
        'ANIMA_SECRET_FILE names, or in the file "secret" of the data directory.',
    );
  }
  const privateKey = privateKeyOf(seed);
  if (publicHalf(privateKey) !== x) throw keysChanged(`the public half of ${kid} is another one`);
  return { alg, x, privateKey, publicKey: createPublicKey(privateKey) };
};

const keysChanged = (what: string): StartProblem =>
  new StartProblem(`The stored signing keys were changed: ${what}. Restore the data from a backup.`);

/** The keys in the store. @throws StartProblem if somebody changed them; propagates errors from the event store */
const storedKeys = async (deps: SigningKeyDeps): Promise<ReadKeys> => {
  try {
    return await readSigningKeys(deps, nothingRead);
  } catch (error) {
    if (!isChainBroken(error)) throw error;
    throw keysChanged(
      `no server recorded revision ${JSON.stringify(error.details['revision'])} of "${signingKeysStream}"`,
    );
  }
};

/**
 * Opens the signing keys, and makes the first one in an empty store. This is done before anything else is recorded, because opening them also
 * verifies that the secret is unchanged. The hashes of API keys depend on it too.
 * @throws StartProblem if the secret or a stored key has changed; propagates errors from the event store
 */
export const openSigningKeys = async (deps: SigningKeyDeps): Promise<KnownSigningKeys> => {
  const commandId = makeCommandId(deps.clock, deps.random);
  const context = { tenant: localTenant, actor: 'system', commandId, correlationId: commandId, causationId: null };
  await runCommand(deps, signingKeysStream, signingKeyFold, context, (known) => {
    // A server with a wrong secret must not add a key.
    for (const key of known) opened(deps.wrapKey, key);
    return currentSigningKey(known, deps.alg) === undefined
      ? [{ type: 'SigningKeyMade', data: makeSigningKey(deps) }]
      : [];
  });
  const keys = new Map<string, OpenedKey>();
  let read = await storedKeys(deps);
  const current = (): SigningKey | undefined => currentSigningKey(read.state, deps.alg);
  const open = (): void => {
    for (const key of read.state) if (!keys.has(key.kid)) keys.set(key.kid, opened(deps.wrapKey, key));
  };
  open();
  const newest = current();
  if (newest === undefined) throw new Error('a signing key was created but cannot be found');
  let signs = newest;
  const refresh = async (): Promise<void> => {
    const latest = await readSigningKeys(deps, read);
    // Another read may have been faster.
    if (latest.revision <= read.revision) return;
    read = latest;
    open();
    // A server with another algorithm name may revoke the last key of this one, which signs on until this process is restarted.
    signs = current() ?? signs;
  };
  const others = spaceReads(deps.clock, refresh);
  const find = async (kid: string): Promise<OpenedKey | undefined> => {
    if (!keys.has(kid) && deps.events.soleWriter !== true) await others.anew();
    return keys.get(kid);
  };
  const own = async (kid: string): Promise<OpenedKey> => {
    const key = await find(kid);
    if (key === undefined) throw new Error(`no server of this system created the signing key ${kid}`);
    return key;
  };
  return {
    bornSealed: isBornSealed(deps.seals, read.state),
    get current() {
      const { kid, alg } = signs;
      return { kid, alg };
    },
    all: () => read.state,
    refresh,
    isVoid: (kid, at) => read.state.some((key) => key.kid === kid && isRevokedAt(key, at)),
    publicKey: async (kid) => (await find(kid))?.publicKey,
    publicJwks: async () => {
      // If the store is unavailable, the known keys are more useful than an error.
      if (deps.events.soleWriter !== true) await others.lately().catch(() => undefined);
      return read.state.map(({ kid, x }) => ({ ...ed25519Jwk(x), kid, use: 'sig' }));
    },
    sign: async (kid: string, claims: JsonObject, { typ, withJwk }: JwsHeader) => {
      const key = await own(kid);
      return new CompactSign(Buffer.from(jcs(claims)))
        .setProtectedHeader({ alg: key.alg, typ, kid, ...(withJwk === true ? { jwk: ed25519Jwk(key.x) } : {}) })
        .sign(key.privateKey);
    },
    signText: async (kid, text) => {
      const { privateKey, x } = await own(kid);
      return { signature: signBytes(null, Buffer.from(text), privateKey), x };
    },
  };
};
