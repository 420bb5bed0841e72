import { isClientId } from '../../../kernel/base/client-id.js';
import { defined } from '../../../kernel/base/defined.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { isPlayerText } from '../../../kernel/base/player-text.js';

/** The `typ` that tokens are signed with: no other signature of this server lets a player in (RFC 8725, section 3.11). */
export const PLAYER_TOKEN_TYPE = 'player+jwt';
/** The audience of a token. Not the server's address, which may change before the token expires. */
const AUDIENCE = 'player';
/** How long a token is valid at most, in seconds. */
export const MAX_TOKEN_SECONDS = 3_600;
/** How many NPCs a token may name: a token must fit into a header. */
export const MAX_TOKEN_NPCS = 32;
/** How far the clock of the server that issued a token may be ahead, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;

/** Whom a token lets in, where, and on whose behalf. */
export type PlayerToken = {
  readonly tokenId: string;
  readonly tenant: string;
  /** The API key that asked for it: the token dies with it. */
  readonly keyId: string;
  readonly player: { readonly id: string; readonly name?: string };
  readonly npcs: readonly string[];
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
};

/** The claims of a token (RFC 7519). */
export const playerClaims = (
  { tokenId, tenant, keyId, player, npcs, issuedAt, expiresAt }: PlayerToken,
  issuer: string,
): JsonObject => ({
  iss: issuer,
  aud: AUDIENCE,
  sub: player.id,
  ...defined({ name: player.name }),
  npcs,
  tenant,
  key: keyId,
  jti: tokenId,
  iat: issuedAt,
  exp: expiresAt,
});

const isText = (value: Json | undefined): value is string => typeof value === 'string' && value !== '';

const isSecond = (value: Json | undefined): value is number => Number.isSafeInteger(value);

/** The token of claims whose signature was verified; null if they are not those of a token. */
export const tokenOfClaims = (claims: Json): PlayerToken | null => {
  if (!isObject(claims)) return null;
  const { aud, sub, name, npcs, tenant, key, jti, iat, exp } = claims;
  if (aud !== AUDIENCE || !isPlayerText(sub) || (name !== undefined && !isPlayerText(name))) return null;
  if (!isText(tenant) || !isText(key) || !isText(jti) || !isSecond(iat) || !isSecond(exp)) return null;
  if (!Array.isArray(npcs) || npcs.length > MAX_TOKEN_NPCS) return null;
  const named = (npcs as readonly Json[]).filter((id) => typeof id === 'string' && isClientId(id)) as string[];
  if (named.length < npcs.length) return null;
  const player = { id: sub, ...defined({ name }) };
  return { tokenId: jti, tenant, keyId: key, player, npcs: named, issuedAt: iat, expiresAt: exp };
};

/** Whether a token is valid at this instant, and not for longer than tokens are. */
export const isInTime = ({ issuedAt, expiresAt }: PlayerToken, now: Date): boolean =>
  now.getTime() < expiresAt * 1_000 &&
  issuedAt * 1_000 <= now.getTime() + CLOCK_SKEW_MS &&
  expiresAt - issuedAt <= MAX_TOKEN_SECONDS;
