/** What a key may do. */
export const scopes = ['npc', 'memory', 'facts', 'rules', 'souls', 'ghosts', 'audit', 'ops', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** A new key has all scopes but these by default. */
export const privilegedScopes: readonly Scope[] = ['ops', 'admin'];

/** The source of a request: one API key of one tenant. */
export type Principal = {
  readonly tenant: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** The rate limit of this key; `null` if it has none. */
  readonly rateLimit: { readonly limit: number; readonly windowSeconds: number } | null;
};
