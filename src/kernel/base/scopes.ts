/** What a key may do. */
export const scopes = [
  'npc',
  'memory',
  'facts',
  'players',
  'rules',
  'souls',
  'ghosts',
  'read',
  'audit',
  'metrics',
  'retract',
  'ops',
  'acknowledge',
  'admin',
] as const;
export type Scope = (typeof scopes)[number];

/** Scopes by who holds the key. */
export const scopeSets = {
  viewer: ['read'],
  auditor: ['read', 'audit', 'metrics'],
  writer: ['npc', 'memory', 'rules', 'ghosts', 'read', 'audit'],
  operator: ['read', 'audit', 'metrics', 'retract', 'ops'],
  game: ['npc', 'memory', 'facts', 'players'],
  admin: scopes,
} as const satisfies Readonly<Record<string, readonly Scope[]>>;
export type ScopeSet = keyof typeof scopeSets;
export const scopeSetNames = Object.keys(scopeSets) as readonly ScopeSet[];

/** The scopes whose GET routes `read` allows too. */
const READABLE: readonly Scope[] = ['npc', 'memory', 'rules', 'souls', 'ghosts'];

/** The scopes whose uses are recorded: they read histories, or act in ways that no player sees. */
export const recordedScopes: ReadonlySet<Scope | null> = new Set(['audit', 'ops', 'retract', 'acknowledge', 'admin']);

/** The scopes that allow a route, each of them alone; none if it needs no key. */
export const allowingScopes = ({
  method,
  scope,
  orScope,
}: {
  readonly method: string;
  readonly scope: Scope | null;
  readonly orScope?: Scope;
}): readonly Scope[] => {
  if (scope === null) return [];
  const scopesOfRoute = orScope === undefined ? [scope] : [scope, orScope];
  return method === 'GET' && READABLE.includes(scope) ? [...scopesOfRoute, 'read'] : scopesOfRoute;
};

/** A player who was let in by a token, and the NPCs to whom they may speak. */
export type AdmittedPlayer = { readonly id: string; readonly name?: string; readonly npcs: readonly string[] };

/** The source of a request: one API key of one tenant, or a player whom that key let in. */
export type Principal = {
  readonly tenant: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** The rate limit of this key, or of the player; `null` if it has none. */
  readonly rateLimit: { readonly limit: number; readonly windowSeconds: number } | null;
  /** Only with a token of a player. Then `keyId` is the key that issued it. */
  readonly player?: AdmittedPlayer;
};
