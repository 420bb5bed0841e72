import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Rejection } from '../../../src/domain/shared/rejection.js';
import {
  createTenant,
  issueKey,
  issueOwnerKey,
  nameTenant,
  revokeKey,
  type NewKey,
  type TenantDecision,
} from '../../../src/domain/tenant/decide.js';
import type { TenantEvent } from '../../../src/domain/tenant/events.js';
import { scopes, type Scope } from '../../../src/domain/tenant/scopes.js';
import { evolveTenant, initialTenant, isLive, noTenants, type TenantState } from '../../../src/domain/tenant/state.js';

const now = new Date('2026-05-01T10:00:00.000Z');
const later = '2026-05-01T11:00:00.000Z';
const earlier = '2026-05-01T09:00:00.000Z';

const newKey = (keyId: string, more: Partial<NewKey> = {}): NewKey => ({
  keyId,
  name: keyId,
  scopes: ['npc'],
  hash: `hash of ${keyId}`,
  rateLimit: null,
  expiresAt: null,
  test: false,
  ...more,
});
const fold = (events: readonly TenantEvent[]): TenantState => events.reduce(evolveTenant, initialTenant);
const eventsOf = (decision: TenantDecision): readonly TenantEvent[] => {
  if (decision instanceof Rejection) throw decision;
  return decision;
};
const codeOf = (decision: TenantDecision): string | null => (decision instanceof Rejection ? decision.code : null);

const founded = eventsOf(createTenant(initialTenant, 'studio', 'pro', newKey('owner'), now));
const given = (...more: readonly TenantEvent[]): TenantState => fold([...founded, ...more]);
const issuedBy = (by: string, key: NewKey, state = given()): readonly TenantEvent[] =>
  eventsOf(issueKey(state, by, key, now));

describe('creating a tenant', () => {
  it('gives the tenant and its owner key, with every scope, in one decision', () => {
    expect(founded).toEqual([
      { type: 'TenantCreated', data: { tenantId: 'studio', tier: 'pro' } },
      {
        type: 'KeyIssued',
        data: { ...newKey('owner'), scopes: [...scopes], owner: true, createdAt: now.toISOString() },
      },
    ]);
  });

  it('is refused when the tenant exists', () => {
    expect(codeOf(createTenant(given(), 'studio', 'free', newKey('another'), now))).toBe('TENANT_EXISTS');
  });

  it('repeated by the same command changes nothing', () => {
    expect(createTenant(given(), 'studio', 'pro', newKey('owner'), now)).toEqual([]);
  });

  it('is refused to a command whose key id belongs to a key that was issued otherwise', () => {
    const state = given(...issuedBy('owner', newKey('second')));
    expect(codeOf(createTenant(state, 'studio', 'pro', newKey('second'), now))).toBe('TENANT_EXISTS');
  });

  it('writes its name down once', () => {
    expect(nameTenant(noTenants, 'studio')).toEqual([{ type: 'TenantNamed', data: { tenantId: 'studio' } }]);
    expect(nameTenant({ tenantIds: ['studio'] }, 'studio')).toEqual([]);
  });
});

describe('issuing a key', () => {
  it('records what was asked, scopes in the order of the table and each once', () => {
    const key = newKey('second', {
      scopes: ['audit', 'npc', 'npc'],
      rateLimit: { limit: 5, windowSeconds: 1 },
      expiresAt: later,
      test: true,
    });
    expect(issuedBy('owner', key)).toEqual([
      {
        type: 'KeyIssued',
        data: { ...key, scopes: ['npc', 'audit'], owner: false, createdAt: now.toISOString() },
      },
    ]);
  });

  it('is refused when the granting key lacks a scope, which the refusal names', () => {
    const state = given(...issuedBy('owner', newKey('admin', { scopes: ['npc', 'admin'] })));
    const decision = issueKey(state, 'admin', newKey('third', { scopes: ['npc', 'ops', 'audit'] }), now);
    expect(decision).toMatchObject({ code: 'FORBIDDEN', details: { missingScopes: ['ops', 'audit'] } });
  });

  it('is refused when the granting key was revoked, has expired or is none of this tenant', () => {
    const issued = issuedBy('owner', newKey('admin', { scopes: ['admin'], expiresAt: later }));
    const revoked = given(...issued, { type: 'KeyRevoked', data: { keyId: 'admin' } });
    const wish = newKey('third', { scopes: [] });
    expect(codeOf(issueKey(revoked, 'admin', wish, now))).toBe('UNAUTHORIZED');
    expect(codeOf(issueKey(given(...issued), 'admin', wish, new Date(later)))).toBe('UNAUTHORIZED');
    expect(codeOf(issueKey(given(), 'stranger', wish, now))).toBe('UNAUTHORIZED');
  });

  it('repeated by the same command changes nothing, even when the key was revoked since', () => {
    const issued = issuedBy('owner', newKey('second'));
    expect(issuedBy('owner', newKey('second'), given(...issued))).toEqual([]);
    const revoked = given(...issued, { type: 'KeyRevoked', data: { keyId: 'second' } });
    expect(issuedBy('owner', newKey('second'), revoked)).toEqual([]);
  });
});

describe('issuing an owner key anew', () => {
  it('gives a key with every scope and leaves the others', () => {
    const events = eventsOf(issueOwnerKey(given(), newKey('recovered'), now));
    expect(events).toMatchObject([{ type: 'KeyIssued', data: { scopes, owner: true } }]);
    expect(fold([...founded, ...events]).keys.filter((key) => isLive(key, now))).toHaveLength(2);
  });

  it('is refused when there is no tenant', () => {
    expect(codeOf(issueOwnerKey(initialTenant, newKey('recovered'), now))).toBe('NOT_FOUND');
  });
});

describe('revoking a key', () => {
  const admin = newKey('admin', { scopes: ['admin'] });

  it('ends a key that exists', () => {
    const state = given(...issuedBy('owner', newKey('second')));
    expect(revokeKey(state, 'second')).toEqual([{ type: 'KeyRevoked', data: { keyId: 'second' } }]);
  });

  it('is refused for an unknown key and for one that was revoked before', () => {
    const state = given(...issuedBy('owner', newKey('second')), { type: 'KeyRevoked', data: { keyId: 'second' } });
    expect(codeOf(revokeKey(state, 'nothing'))).toBe('KEY_NOT_FOUND');
    expect(codeOf(revokeKey(state, 'second'))).toBe('KEY_NOT_FOUND');
  });

  it('is refused for the last admin key that does not expire', () => {
    const state = given(...issuedBy('owner', newKey('second')));
    expect(codeOf(revokeKey(state, 'owner'))).toBe('LAST_ADMIN_KEY');
  });

  it('does not count an admin key that expires, also while it still opens', () => {
    const state = given(...issuedBy('owner', { ...admin, expiresAt: later }));
    expect(codeOf(revokeKey(state, 'owner'))).toBe('LAST_ADMIN_KEY');
  });

  it('is possible for an admin key beside another that does not expire', () => {
    const state = given(...issuedBy('owner', admin));
    expect(codeOf(revokeKey(state, 'owner'))).toBeNull();
    expect(codeOf(revokeKey(state, 'admin'))).toBeNull();
  });

  it.each([earlier, later])('lets an admin key go that expires at %s', (expiresAt) => {
    const state = given(...issuedBy('owner', { ...admin, expiresAt }));
    expect(codeOf(revokeKey(state, 'admin'))).toBeNull();
  });
});

describe('whatever is decided', () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('issue' as const),
      by: fc.nat(9),
      id: fc.nat(9),
      scopes: fc.subarray<Scope>([...scopes]),
      expires: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('revoke' as const), id: fc.nat(9) }),
  );

  it('a tenant keeps an admin key that does not expire, no key has a scope that its grantor lacked, and no key id is given out twice', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const name = (id: number): string => (id === 0 ? 'owner' : `key-${String(id)}`);
        let state = given();
        for (const one of steps) {
          const grantor = one.kind === 'issue' ? state.keys.find(({ keyId }) => keyId === name(one.by)) : undefined;
          const decision =
            one.kind === 'issue'
              ? issueKey(
                  state,
                  name(one.by),
                  newKey(name(one.id), { scopes: one.scopes, expiresAt: one.expires ? later : null }),
                  now,
                )
              : revokeKey(state, name(one.id));
          if (decision instanceof Rejection) continue;
          for (const event of decision) {
            if (event.type === 'KeyIssued') {
              expect(grantor?.scopes).toEqual(expect.arrayContaining([...event.data.scopes]));
            }
          }
          state = decision.reduce(evolveTenant, state);
          expect(
            state.keys.some(
              ({ scopes, revoked, expiresAt }) => scopes.includes('admin') && !revoked && expiresAt === null,
            ),
          ).toBe(true);
          expect(new Set(state.keys.map(({ keyId }) => keyId)).size).toBe(state.keys.length);
        }
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
      }),
    );
  });
});
