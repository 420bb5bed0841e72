import { jcs } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { TenantEvent, TenantsEvent } from './events.js';
import { type Scope, scopes } from '../../../kernel/base/scopes.js';
import { type ApiKey, keyIn, keysIn } from './key-map.js';
import { isLastingAdmin, isLastingGrantor, isLive, scopesOf, type TenantNames, type TenantState } from './state.js';
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

/** Those of these scopes that a key does not have. */
const missingIn = (key: ApiKey, wanted: readonly Scope[]): readonly Scope[] => {
  const held = scopesOf(key);
  return wanted.filter((scope) => !held.includes(scope));
};

/**
 * Issues a key on behalf of another key, which can only grant scopes that it has itself. A key id that was issued before means a repeat of the
 * command: no event. Refuses with FORBIDDEN (scopes missing) or UNAUTHORIZED (the granting key has since been revoked or has expired).
 */
export const issueKey = (state: TenantState, grantedBy: string, key: NewKey, now: Date): TenantDecision => {
  if (keyIn(state.keys, key.keyId) !== undefined) return [];
  const grantor = keyIn(state.keys, grantedBy);
  if (grantor === undefined || !isLive(grantor, now)) return new Rejection('UNAUTHORIZED');
  const missing = missingIn(grantor, key.scopes);
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
  if (keyIn(state.keys, key.keyId) !== undefined) return [];
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
  if (keyIn(state.keys, key.keyId)?.owner === true) return [];
  if (state.tenantId !== null) return new Rejection('TENANT_EXISTS', { details: { tenantId } });
  return [{ type: 'TenantCreated', data: { tenantId, tier } }, issued({ ...key, scopes }, true, now)];
};

/** Records a tenant's name, once. */
export const nameTenant = (state: TenantNames, tenantId: string): readonly TenantsEvent[] =>
  state.tenantIds.includes(tenantId) ? [] : [{ type: 'TenantNamed', data: { tenantId } }];

/** What a key is called and how often it may ask; what is left out stays. */
export type ApiKeyChange = Omit<Extract<TenantEvent, { type: 'KeyChanged' }>['data'], 'keyId'>;

/**
 * The key that another one wants to change or revoke. It must have all its scopes: else a key that only administers could stop those that may do more.
 * It may always change itself.
 */
const changeable = (state: TenantState, by: string, keyId: string, now: Date): ApiKey | Rejection => {
  const actor = keyIn(state.keys, by);
  if (actor === undefined || !isLive(actor, now)) return new Rejection('UNAUTHORIZED');
  const key = keyIn(state.keys, keyId);
  if (key === undefined || key.revoked) return new Rejection('KEY_NOT_FOUND', { details: { keyId } });
  const missing = missingIn(actor, scopesOf(key));
  if (missing.length > 0) {
    return new Rejection('FORBIDDEN', {
      message: `A key can only change or revoke keys whose scopes it has. This key does not have: ${missing.join(', ')}.`,
      details: { missingScopes: missing },
    });
  }
  return key;
};

/**
 * Changes a key on behalf of another one. If nothing differs, there is no event. Refuses with KEY_NOT_FOUND (unknown, or revoked), FORBIDDEN (it has
 * scopes that the other one lacks) and UNAUTHORIZED (the other one has since been revoked or has expired).
 */
export const changeKey = (
  state: TenantState,
  by: string,
  keyId: string,
  { name, rateLimit }: ApiKeyChange,
  now: Date,
): TenantDecision => {
  const key = changeable(state, by, keyId, now);
  if (key instanceof Rejection) return key;
  const changed = {
    ...(name === undefined || name === key.name ? {} : { name }),
    ...(rateLimit === undefined || jcs(rateLimit) === jcs(key.rateLimit) ? {} : { rateLimit }),
  };
  return Object.keys(changed).length === 0 ? [] : [{ type: 'KeyChanged', data: { keyId, ...changed } }];
};

/**
 * Revokes a key on behalf of another one. Refuses as `changeKey`, and with LAST_ADMIN_KEY for the last key with every scope, and for the last one
 * with the scope `admin`, of those that do not expire: after the others have expired, no key could administer the tenant, or grant all scopes.
 */
export const revokeKey = (state: TenantState, by: string, keyId: string, now: Date): TenantDecision => {
  const key = changeable(state, by, keyId, now);
  if (key instanceof Rejection) return key;
  const isLast = (lasts: (one: ApiKey) => boolean): boolean =>
    lasts(key) && !keysIn(state.keys).some((other) => other.keyId !== keyId && lasts(other));
  if (isLast(isLastingGrantor) || isLast(isLastingAdmin))
    return new Rejection('LAST_ADMIN_KEY', { details: { keyId } });
  return [{ type: 'KeyRevoked', data: { keyId } }];
};

/** Makes an engine the tenant's default. If it already is, there is no event. */
export const chooseCortex = (state: TenantState, cortexId: string): TenantDecision =>
  state.cortexId === cortexId ? [] : [{ type: 'CortexChosen', data: { cortexId } }];
