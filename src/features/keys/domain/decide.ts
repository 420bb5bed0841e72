import { jcs } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { TenantEvent, TenantsEvent } from './events.js';
import { scopes } from '../../../kernel/base/scopes.js';
import { isLastingAdmin, isLive, scopesOf, type TenantNames, type TenantState } from './state.js';
import type { Tier } from '../../../kernel/base/tiers.js';

/** The result of a decider: events to append (none if nothing changes), or the refusal. */
export type TenantDecision = readonly TenantEvent[] | Rejection;

/** A key to be issued. Its id is derived from the command, so a repeat of the command finds the key that it issued. */
export type NewKey = Omit<Extract<TenantEvent, { type: 'KeyIssued' }>['data'], 'owner' | 'createdAt' | 'splitOps'>;

const issued = (key: NewKey, owner: boolean, now: Date): TenantEvent => ({
  type: 'KeyIssued',
  data: {
    ...key,
    scopes: scopes.filter((scope) => key.scopes.includes(scope)),
    owner,
    createdAt: now.toISOString(),
    splitOps: true,
  },
});

/**
 * Issues a key on behalf of another key, which can only grant scopes that it has itself. A key id that was issued before means a repeat of the
 * command: no event. Refuses with FORBIDDEN (scopes missing) or UNAUTHORIZED (the granting key has since been revoked or has expired).
 */
export const issueKey = (state: TenantState, grantedBy: string, key: NewKey, now: Date): TenantDecision => {
  if (state.keys.some(({ keyId }) => keyId === key.keyId)) return [];
  const grantor = state.keys.find(({ keyId }) => keyId === grantedBy);
  if (grantor === undefined || !isLive(grantor, now)) return new Rejection('UNAUTHORIZED');
  const held = scopesOf(grantor);
  const missing = key.scopes.filter((scope) => !held.includes(scope));
  if (missing.length > 0) {
    return new Rejection('FORBIDDEN', {
      message: `A key can only grant scopes that it has. This key does not have: ${missing.join(', ')}. Leave them out of "scopes".`,
      details: { missingScopes: missing },
    });
  }
  return [issued(key, false, now)];
};

/** Issues a key with every scope to a tenant whose owner key was lost. Refuses with NOT_FOUND if the tenant does not exist. */
export const issueOwnerKey = (state: TenantState, key: Omit<NewKey, 'scopes'>, now: Date): TenantDecision => {
  if (state.keys.some(({ keyId }) => keyId === key.keyId)) return [];
  if (state.tenantId === null) return new Rejection('NOT_FOUND', { message: 'No such tenant exists.' });
  return [issued({ ...key, scopes }, true, now)];
};

/** Creates a tenant together with its owner key. Refuses with TENANT_EXISTS; a repeat of the command gives no event. */
export const createTenant = (
  state: TenantState,
  tenantId: string,
  tier: Tier | null,
  key: Omit<NewKey, 'scopes'>,
  now: Date,
): TenantDecision => {
  if (state.keys.some(({ keyId, owner }) => owner && keyId === key.keyId)) return [];
  if (state.tenantId !== null) return new Rejection('TENANT_EXISTS', { details: { tenantId } });
  return [{ type: 'TenantCreated', data: { tenantId, tier } }, issued({ ...key, scopes }, true, now)];
};

/** Records a tenant's name, once. */
export const nameTenant = (state: TenantNames, tenantId: string): readonly TenantsEvent[] =>
  state.tenantIds.includes(tenantId) ? [] : [{ type: 'TenantNamed', data: { tenantId } }];

/** What a key is called and how often it may ask; what is left out stays. */
export type ApiKeyChange = Omit<Extract<TenantEvent, { type: 'KeyChanged' }>['data'], 'keyId'>;

/** Changes a key. If nothing differs, there is no event. Refuses with KEY_NOT_FOUND (unknown, or revoked). */
export const changeKey = (state: TenantState, keyId: string, { name, rateLimit }: ApiKeyChange): TenantDecision => {
  const key = state.keys.find((one) => one.keyId === keyId);
  if (key === undefined || key.revoked) return new Rejection('KEY_NOT_FOUND', { details: { keyId } });
  const changed = {
    ...(name === undefined || name === key.name ? {} : { name }),
    ...(rateLimit === undefined || jcs(rateLimit) === jcs(key.rateLimit) ? {} : { rateLimit }),
  };
  return Object.keys(changed).length === 0 ? [] : [{ type: 'KeyChanged', data: { keyId, ...changed } }];
};

/**
 * Revokes a key. Refuses with KEY_NOT_FOUND (unknown, or already revoked) and with LAST_ADMIN_KEY for the last key with the scope `admin` that does
 * not expire. Keys that expire do not count: after they have expired, no key could administer the tenant.
 */
export const revokeKey = (state: TenantState, keyId: string): TenantDecision => {
  const key = state.keys.find((one) => one.keyId === keyId);
  if (key === undefined || key.revoked) return new Rejection('KEY_NOT_FOUND', { details: { keyId } });
  const lasting = state.keys.filter(isLastingAdmin);
  if (lasting.length === 1 && lasting.includes(key)) return new Rejection('LAST_ADMIN_KEY', { details: { keyId } });
  return [{ type: 'KeyRevoked', data: { keyId } }];
};

/** Makes an engine the tenant's default. If it already is, there is no event. */
export const chooseCortex = (state: TenantState, cortexId: string): TenantDecision =>
  state.cortexId === cortexId ? [] : [{ type: 'CortexChosen', data: { cortexId } }];
