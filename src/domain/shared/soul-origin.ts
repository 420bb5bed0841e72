/** Whose key signed a soul: this server's, one that it is told to trust, or any other. */
export type SoulSigner = 'ours' | 'known' | 'unknown';

/** A soul that a mind came from. */
export type CustodyLink = {
  readonly soulId: string;
  readonly txId: string;
  readonly issuer: string;
  readonly tenant: string;
  readonly npcId: string;
  /** The key that signed it. */
  readonly kid: string;
  /** Its root, base64url. */
  readonly root: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly importedAt: string;
};

/** The tenant's default set when the soul was made; `digest` is the base64url SHA-256 of its JCS form. */
export type SoulRuleset = { readonly rulesetId: string; readonly version: number; readonly digest: string };
