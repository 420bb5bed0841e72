import { compactVerify, decodeProtectedHeader } from 'jose';

import type { RateLimit } from '../../kernel/base/rate-limit.js';
import type { Json } from '../../kernel/base/json.js';
import type { Principal } from '../../kernel/base/scopes.js';
import { ED25519_ALGORITHMS, isCanonicalJws } from '../../kernel/crypto/compact-jws.js';
import type { Clock } from '../../ports/clock.js';
import type { SigningKeys } from '../../ports/signing-keys.js';
import {
  isInTime,
  MAX_TOKEN_SECONDS,
  PLAYER_TOKEN_TYPE,
  playerClaims,
  type PlayerToken,
  tokenOfClaims,
} from './domain/player-token.js';
import { bearerToken, type KeyDirectory } from './key-directory.js';

export type PlayerTokenDeps = {
  readonly signingKeys: Pick<SigningKeys, 'current' | 'sign' | 'publicKey' | 'isVoid'>;
  readonly directory: Pick<KeyDirectory, 'authenticate' | 'live'>;
  readonly clock: Pick<Clock, 'now'>;
  /** This server, as named in verdicts. */
  readonly issuer: string;
  /** `ANIMA_PLAYER_RATE_LIMIT`; null if it is off. */
  readonly rateLimit: RateLimit | null;
};

/** Who is to be let in, and for how long. */
export type TokenWish = Pick<PlayerToken, 'player' | 'npcs'> & { readonly seconds?: number };

/** The only members of a token's header. Others, such as `crit` or `jwk`, may ask for a check that is not made here. */
const HEADER_MEMBERS: readonly string[] = ['alg', 'typ', 'kid'];

const kidOf = (token: string): string | null => {
  if (token.split('.').length !== 3 || !isCanonicalJws(token)) return null;
  try {
    const header = decodeProtectedHeader(token);
    const { kid, typ, alg } = header;
    if (!Object.keys(header).every((name) => HEADER_MEMBERS.includes(name))) return null;
    return typeof kid === 'string' && typ === PLAYER_TOKEN_TYPE && ED25519_ALGORITHMS.includes(alg ?? '') ? kid : null;
  } catch {
    return null;
  }
};

/** Tokens that let the players of a tenant talk to its NPCs. Nothing is stored: a token is valid because this server signed it. */
export type PlayerTokens = {
  /** Signs a token on behalf of an API key. Propagates errors from the signing keys. */
  readonly issue: (
    by: Pick<Principal, 'tenant' | 'keyId'>,
    wish: TokenWish,
    tokenId: string,
  ) => Promise<{ readonly text: string; readonly token: PlayerToken }>;
  /** The principal of an `Authorization` header with an API key or a token; null if neither is accepted. Propagates errors from the signing keys. */
  readonly authenticate: (header: string | undefined) => Principal | null | Promise<Principal | null>;
};

export const createPlayerTokens = ({
  signingKeys,
  directory,
  clock,
  issuer,
  rateLimit,
}: PlayerTokenDeps): PlayerTokens => {
  /** The token, if this server signed it for this purpose. */
  const verified = async (text: string): Promise<PlayerToken | null> => {
    const kid = kidOf(text);
    const key = kid === null ? undefined : await signingKeys.publicKey(kid);
    // Whoever has a revoked key can write any time into a token.
    if (kid === null || key === undefined || signingKeys.isVoid(kid, clock.now())) return null;
    try {
      const { payload } = await compactVerify(text, key, { algorithms: ED25519_ALGORITHMS });
      return tokenOfClaims(JSON.parse(new TextDecoder().decode(payload)) as Json);
    } catch {
      return null;
    }
  };

  const ofToken = async (text: string): Promise<Principal | null> => {
    const token = await verified(text);
    const now = clock.now();
    if (token === null || !isInTime(token, now)) return null;
    const { tenant, keyId, player, npcs } = token;
    const issuedBy = directory.live(keyId, now);
    if (issuedBy?.tenant !== tenant || !issuedBy.scopes.includes('players')) return null;
    return { tenant, keyId, scopes: [], rateLimit, player: { ...player, npcs } };
  };

  return {
    issue: async ({ tenant, keyId }, { player, npcs, seconds = MAX_TOKEN_SECONDS }, tokenId) => {
      const issuedAt = Math.floor(clock.now().getTime() / 1_000);
      const token = { tokenId, tenant, keyId, player, npcs, issuedAt, expiresAt: issuedAt + seconds };
      const text = await signingKeys.sign(signingKeys.current.kid, playerClaims(token, issuer), {
        typ: PLAYER_TOKEN_TYPE,
      });
      return { text, token };
    },
    authenticate: (header) => {
      const text = bearerToken(header);
      // No API key has a dot.
      return text.includes('.') ? ofToken(text) : directory.authenticate(header, clock.now());
    },
  };
};
