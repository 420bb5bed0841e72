import type { SoulDocument, UnsignedSoul } from './document.js';

/** The `typ` of a soul's signature. */
export const SOUL_TYPE = 'soul+jwt';

/** The claims in a soul's signature (as in RFC 7519). */
export type SoulClaims = {
  /** The public URL of the server that exported it. */
  readonly iss: string;
  /** The npcId. */
  readonly sub: string;
  /** The soul's id. */
  readonly jti: string;
  /** When it was made, in whole seconds since 1970. */
  readonly iat: number;
  readonly tenant: string;
  readonly revision: number;
  /** The root of its parts, base64url, and the number of parts. */
  readonly root: string;
  readonly parts: number;
};

/** The claims of a soul whose parts have this root: the same soul makes the same claims. */
export const soulClaims = ({ id, npcId, createdAt, provenance, memories }: UnsignedSoul, root: string): SoulClaims => ({
  iss: provenance.issuer,
  sub: npcId,
  jti: id,
  iat: Math.floor(Date.parse(createdAt) / 1_000),
  tenant: provenance.tenant,
  revision: provenance.revision,
  root,
  parts: memories.length + 1,
});

/** `root` and `parts`. */
const CLAIMS_BESIDE = 2;

/**
 * Whether signed claims are about this soul, comparing the facts that are in both: all except the root, which has to be computed.
 * @returns the disagreement, or null
 */
export const disagreement = (claims: Partial<SoulClaims>, soul: SoulDocument): 'other_soul' | 'wrong_parts' | null => {
  const { root: _, parts, ...facts } = soulClaims(soul, '');
  const names = Object.keys(facts) as readonly (keyof typeof facts)[];
  // An unknown claim could demand anything, such as an expiry date.
  if (Object.keys(claims).length !== names.length + CLAIMS_BESIDE) return 'other_soul';
  if (names.some((name) => claims[name] !== facts[name]) || soul.provenance.npcId !== soul.npcId) return 'other_soul';
  return claims.parts === parts ? null : 'wrong_parts';
};
