import { signingKeyFold } from './signing-key-fold.js';
import { createPrivateKey, createPublicKey, type KeyObject, sign as signBytes } from 'node:crypto';

import { CompactSign } from 'jose';

import { jcs, type JsonObject } from '../../kernel/base/json.js';
import { StartProblem } from '../../kernel/base/start-problem.js';
import { signingKeysStream } from '../../kernel/base/stream-names.js';
import { currentSigningKey, type SigningKey, type SigningKeyState } from './domain/signing-events.js';
import { ed25519Jwk, thumbprint } from '../../kernel/crypto/jwk.js';
import type { Random } from '../../ports/random.js';
import type { JwsHeader, SigningAlgorithm, SigningKeys } from '../../ports/signing-keys.js';
import { makeCommandId } from '../../kernel/streams/command-id.js';
import { NONCE_BYTES, unwrap, wrap } from './key-wrap.js';
import { type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';
import { spaceReads } from '../../kernel/streams/spaced-reads.js';

/** How many events one page holds when reading new events. There are few: a server makes a key only if it is the first with its algorithm's name. */
const KEYS_PAGE = 64;
/** Bytes of an Ed25519 private key (RFC 8032). */
const SEED_BYTES = 32;
/** The bytes before them in PKCS #8 (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export type SigningKeyDeps = CommandDeps & {
  readonly random: Random;
  /** 32 bytes: `deriveKey(secret, 'signing-key-wrap')`. */
  readonly wrapKey: Uint8Array;
  /** `ANIMA_JWS_ALG`. A key keeps the name under which it was made; another name makes another key. */
  readonly alg: SigningAlgorithm;
};

const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });

const make = ({ random, wrapKey, alg }: SigningKeyDeps): SigningKey => {
  const seed = random.bytes(SEED_BYTES);
  const x = createPublicKey(privateKeyOf(seed)).export({ format: 'jwk' }).x ?? '';
  const kid = thumbprint(x);
  return { kid, alg, x, wrapped: wrap(wrapKey, kid, seed, random.bytes(NONCE_BYTES)) };
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
  return { alg, x, privateKey, publicKey: createPublicKey(privateKey) };
};

/**
 * Opens the signing keys, and makes the first one in an empty store. This is done before anything else is recorded, because opening them also
 * verifies that the secret is unchanged. The hashes of API keys depend on it too.
 * @throws StartProblem if the secret has changed; propagates errors from the event store
 */
export const openSigningKeys = async (deps: SigningKeyDeps): Promise<SigningKeys> => {
  const commandId = makeCommandId(deps.clock, deps.random);
  const context = { tenant: 'local', actor: 'system', commandId, correlationId: commandId, causationId: null };
  const start = await runCommand(deps, signingKeysStream, signingKeyFold, context, (keys) => {
    // A server with a wrong secret must not add a key.
    for (const key of keys) opened(deps.wrapKey, key);
    return currentSigningKey(keys, deps.alg) === undefined ? [{ type: 'SigningKeyMade', data: make(deps) }] : [];
  });
  const newest = currentSigningKey(start.state, deps.alg);
  if (newest === undefined) throw new Error('a signing key was created but cannot be found');
  const keys = new Map<string, OpenedKey>();
  const add = (state: SigningKeyState): void => {
    for (const key of state) if (!keys.has(key.kid)) keys.set(key.kid, opened(deps.wrapKey, key));
  };
  add(start.state);
  let { revision } = start;
  const others = spaceReads(deps.clock, async () => {
    for (;;) {
      const range = { direction: 'forwards', from: revision + 1, limit: KEYS_PAGE } as const;
      const { events } = await deps.events.read(signingKeysStream, range);
      if (events.length === 0) return;
      add(events.reduce((state, event) => signingKeyFold.evolve(state, event), signingKeyFold.initial));
      revision = Math.max(revision, events.at(-1)?.revision ?? -1);
    }
  });
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
    current: { kid: newest.kid, alg: newest.alg },
    publicKey: async (kid) => (await find(kid))?.publicKey,
    publicJwks: async () => {
      // If the store is unavailable, the known keys are more useful than an error.
      if (deps.events.soleWriter !== true) await others.lately().catch(() => undefined);
      return [...keys].map(([kid, { x }]) => ({ ...ed25519Jwk(x), kid, use: 'sig' }));
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
