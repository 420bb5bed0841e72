import type { UnknownEvent } from '../../../kernel/base/decoder.js';
import { type Scope, scopes } from '../../../kernel/base/scopes.js';
import type { TenantEvent, TenantsEvent } from './events.js';
import { type ApiKey, type KeyAsIssued, keyIn, type KeyMap, noKeys, withKey } from './key-map.js';
import type { Tier } from '../../../kernel/base/tiers.js';

/** A tenant folded from its stream. Revoked keys are kept, so a key id is never issued twice. */
export type TenantState = {
  /** Null until the tenant is created. */
  readonly tenantId: string | null;
  readonly tier: Tier | null;
  readonly keys: KeyMap;
  /** The engine that the tenant chose; null for the server's default. */
  readonly cortexId: string | null;
};

export const initialTenant: TenantState = { tenantId: null, tier: null, keys: noKeys, cortexId: null };

/**
 * The scopes that a key's event grants today: `ops` was split, and a key from before keeps what it could do. The event says so itself, not by its
 * version, because an older server in a rolling upgrade refuses a tenant whose stream has a version that it does not know.
 */
const grantedBy = ({ scopes: granted, splitOps }: KeyAsIssued): readonly Scope[] =>
  splitOps !== true && granted.includes('ops')
    ? [...new Set<Scope>([...granted, 'metrics', 'retract', 'acknowledge'])]
    : granted;

const withChanged = (state: TenantState, key: ApiKey | undefined, changed: Partial<ApiKey> = {}): TenantState =>
  key === undefined ? state : { ...state, keys: withKey(state.keys, { ...key, ...changed }) };

/** The state after one more event. Total: an unknown event changes nothing. @param at when it was recorded */
export const evolveTenant = (state: TenantState, event: TenantEvent | UnknownEvent, at: string): TenantState => {
  switch (event.type) {
    case 'TenantCreated':
      return { ...state, tenantId: event.data.tenantId, tier: event.data.tier };
    case 'KeyIssued':
      return withChanged(state, { ...event.data, scopes: grantedBy(event.data), revoked: false, revokedAt: null });
    case 'KeyChanged':
      return withChanged(state, keyIn(state.keys, event.data.keyId), event.data);
    case 'KeyRevoked':
      return withChanged(state, keyIn(state.keys, event.data.keyId), { revoked: true, revokedAt: at });
    case 'CortexChosen':
      return { ...state, cortexId: event.data.cortexId };
    default:
      return state;
  }
};

/** The names in the stream of tenants. */
export type TenantNames = { readonly tenantIds: readonly string[] };

export const noTenants: TenantNames = { tenantIds: [] };

/** The names after one more event; a repeated name counts once. */
export const evolveTenantNames = (state: TenantNames, event: TenantsEvent | UnknownEvent): TenantNames =>
  event.type !== 'TenantNamed' || state.tenantIds.includes(event.data.tenantId)
    ? state
    : { tenantIds: [...state.tenantIds, event.data.tenantId] };

/** What a key may do. An owner key has every scope, also those that did not exist when it was issued. */
export const scopesOf = ({ owner, scopes: granted }: Pick<ApiKey, 'owner' | 'scopes'>): readonly Scope[] =>
  owner ? scopes : granted;

/** Whether a key is accepted at this instant. */
export const isLive = (key: ApiKey, now: Date): boolean =>
  !key.revoked && (key.expiresAt === null || now.getTime() < Date.parse(key.expiresAt));

/** Whether a key administers its tenant until it is revoked. */
export const isLastingAdmin = (key: ApiKey): boolean =>
  !key.revoked && key.expiresAt === null && key.scopes.includes('admin');

/** Whether a key can grant every scope until it is revoked: an owner key, or one that was given all of them. */
export const isLastingGrantor = (key: ApiKey): boolean =>
  isLastingAdmin(key) && scopes.every((scope) => scopesOf(key).includes(scope));
