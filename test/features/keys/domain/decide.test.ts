import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { tenantFold, tenantNamesFold } from '../../../../src/features/keys/tenant-fold.js';
import { keyIn, keysIn } from '../../../../src/features/keys/domain/key-map.js';
import {
  changeKey,
  chooseCortex,
  createTenant,
  issueKey,
  issueOwnerKey,
  nameTenant,
  revokeKey,
  type NewKey,
} from '../../../../src/features/keys/domain/decide.js';
import { scopes, type Scope } from '../../../../src/kernel/base/scopes.js';
import { isLive, scopesOf } from '../../../../src/features/keys/domain/state.js';
import { givenOf } from '../../../support/given.js';

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

const given = givenOf(tenantFold);
const nobody = given();
const studio = nobody.when(createTenant, 'studio', 'pro', newKey('owner'), now).and;
const issued = (key: NewKey) => studio.when(issueKey, 'owner', key, now).and;

describe('an owner key', () => {
  it('has every scope, also those that did not exist when it was issued [11.4h]', () => {
    const { tenantId } = studio.state;
    const former = scopes.filter((scope) => scope !== 'facts');
    const key = { ...newKey('owner'), scopes: former, owner: true, createdAt: now.toISOString() };
    const old = given(
      { type: 'TenantCreated', data: { tenantId, tier: 'pro' } },
      { type: 'KeyIssued', data: key },
      { type: 'KeyIssued', data: { ...key, keyId: 'admin', owner: false } },
    );
    expect(keysIn(old.state.keys).map(scopesOf)).toEqual([scopes, former]);
    expect(old.when(issueKey, 'owner', newKey('game', { scopes: ['facts'] }), now).events).toHaveLength(1);
    old
      .when(issueKey, 'admin', newKey('game', { scopes: ['facts'] }), now)
      .then('FORBIDDEN', { missingScopes: ['facts'] });
  });
});

describe('a key that was issued with ops before other scopes took parts of it', () => {
  const key = { ...newKey('k'), owner: false, createdAt: now.toISOString() };
  const scopesAfter = (data: typeof key & { splitOps?: true }) =>
    keysIn(given({ type: 'KeyIssued', data }).state.keys)[0]?.scopes;

  it('may do what it could [11.4l]', () => {
    expect(scopesAfter({ ...key, scopes: ['npc', 'ops'] })).toEqual([
      'npc',
      'ops',
      'metrics',
      'retract',
      'acknowledge',
    ]);
    expect(scopesAfter({ ...key, scopes: ['npc'] })).toEqual(['npc']);
  });

  it('is told from a key that was given only ops since', () => {
    expect(scopesAfter({ ...key, scopes: ['npc', 'ops'], splitOps: true })).toEqual(['npc', 'ops']);
    expect(keyIn(issued(newKey('k', { scopes: ['ops'] })).state.keys, 'k')?.scopes).toEqual(['ops']);
  });
});

describe('creating a tenant', () => {
  it('makes the tenant and its owner key, with every scope, in one decision', () => {
    nobody.when(createTenant, 'studio', 'pro', newKey('owner'), now).then([
      { type: 'TenantCreated', data: { tenantId: 'studio', tier: 'pro' } },
      {
        type: 'KeyIssued',
        data: { ...newKey('owner'), scopes: [...scopes], owner: true, createdAt: now.toISOString(), splitOps: true },
      },
    ]);
  });

  it('is refused when the tenant exists', () => {
    studio.when(createTenant, 'studio', 'free', newKey('another'), now).then('TENANT_EXISTS');
  });

  it('changes nothing when the command is repeated', () => {
    studio.when(createTenant, 'studio', 'pro', newKey('owner'), now).then([]);
  });

  it('is refused if the key id of the command belongs to a key that was issued differently', () => {
    issued(newKey('second')).when(createTenant, 'studio', 'pro', newKey('second'), now).then('TENANT_EXISTS');
  });

  it('records the name once', () => {
    const unnamed = givenOf(tenantNamesFold)();
    unnamed.when(nameTenant, 'studio').then([{ type: 'TenantNamed', data: { tenantId: 'studio' } }]);
    unnamed.when(nameTenant, 'studio').and.when(nameTenant, 'studio').then([]);
  });
});

describe('issuing a key', () => {
  it('records the request, with each scope once and in the order of the table', () => {
    const key = newKey('second', {
      scopes: ['audit', 'npc', 'npc'],
      rateLimit: { limit: 5, windowSeconds: 1 },
      expiresAt: later,
      test: true,
    });
    studio.when(issueKey, 'owner', key, now).then([
      {
        type: 'KeyIssued',
        data: { ...key, scopes: ['npc', 'audit'], owner: false, createdAt: now.toISOString(), splitOps: true },
      },
    ]);
  });

  it('is refused when the granting key lacks a scope, which the refusal names', () => {
    issued(newKey('admin', { scopes: ['npc', 'admin'] }))
      .when(issueKey, 'admin', newKey('third', { scopes: ['npc', 'ops', 'audit'] }), now)
      .then('FORBIDDEN', { missingScopes: ['ops', 'audit'] });
  });

  it('is refused when the granting key was revoked, has expired or belongs to another tenant', () => {
    const admin = issued(newKey('admin', { scopes: ['admin'], expiresAt: later }));
    const wish = newKey('third', { scopes: [] });
    admin.when(revokeKey, 'owner', 'admin', now).and.when(issueKey, 'admin', wish, now).then('UNAUTHORIZED');
    admin.when(issueKey, 'admin', wish, new Date(later)).then('UNAUTHORIZED');
    studio.when(issueKey, 'stranger', wish, now).then('UNAUTHORIZED');
  });

  it('changes nothing when the command is repeated, even if the key was revoked since', () => {
    const second = issued(newKey('second'));
    second.when(issueKey, 'owner', newKey('second'), now).then([]);
    second.when(revokeKey, 'owner', 'second', now).and.when(issueKey, 'owner', newKey('second'), now).then([]);
  });
});

describe('issuing another owner key', () => {
  it('makes a key with every scope and keeps the others', () => {
    const recovered = studio.when(issueOwnerKey, newKey('recovered'), now);
    expect(recovered.events).toMatchObject([{ type: 'KeyIssued', data: { scopes, owner: true } }]);
    expect(keysIn(recovered.and.state.keys).filter((key) => isLive(key, now))).toHaveLength(2);
  });

  it('is refused when the tenant does not exist', () => {
    nobody.when(issueOwnerKey, newKey('recovered'), now).then('NOT_FOUND');
  });
});

describe('revoking a key', () => {
  const admin = newKey('admin', { scopes: ['admin'] });
  const revoked = (keyId: string) => [{ type: 'KeyRevoked', data: { keyId } }];

  it('ends an existing key', () => {
    issued(newKey('second')).when(revokeKey, 'owner', 'second', now).then(revoked('second'));
  });

  it('is refused for an unknown key and for a revoked one', () => {
    const gone = issued(newKey('second')).when(revokeKey, 'owner', 'second', now).and;
    gone.when(revokeKey, 'owner', 'nothing', now).then('KEY_NOT_FOUND');
    gone.when(revokeKey, 'owner', 'second', now).then('KEY_NOT_FOUND');
  });

  it('is refused for the last admin key without an expiry', () => {
    issued(newKey('second')).when(revokeKey, 'owner', 'owner', now).then('LAST_ADMIN_KEY');
  });

  it('does not count an admin key with an expiry, even while it is still valid', () => {
    issued({ ...admin, expiresAt: later })
      .when(revokeKey, 'owner', 'owner', now)
      .then('LAST_ADMIN_KEY');
  });

  it('is refused for the last key with every scope, owner key or not [11.4d]', () => {
    issued(admin).when(revokeKey, 'owner', 'owner', now).then('LAST_ADMIN_KEY');
    const two = issued(newKey('second', { scopes: [...scopes] }));
    two.when(revokeKey, 'second', 'owner', now).then(revoked('owner'));
    two.when(revokeKey, 'owner', 'second', now).then(revoked('second'));
    two.when(revokeKey, 'second', 'owner', now).and.when(revokeKey, 'second', 'second', now).then('LAST_ADMIN_KEY');
    const recovered = studio.when(issueOwnerKey, newKey('recovered'), now).and;
    recovered.when(revokeKey, 'recovered', 'owner', now).then(revoked('owner'));
  });

  it('is refused for the last admin key of a tenant that lost its owner key [11.4d]', () => {
    const lost = given(
      { type: 'KeyIssued', data: { ...admin, owner: false, createdAt: now.toISOString(), splitOps: true } },
      { type: 'KeyIssued', data: { ...newKey('second'), owner: false, createdAt: now.toISOString(), splitOps: true } },
    );
    lost.when(revokeKey, 'admin', 'admin', now).then('LAST_ADMIN_KEY');
  });

  it('is refused for a key with scopes that the other one lacks, which the refusal names [11.4o]', () => {
    const weak = issued(admin).when(issueKey, 'owner', newKey('auditor', { scopes: ['audit', 'npc'] }), now).and;
    weak.when(revokeKey, 'admin', 'auditor', now).then('FORBIDDEN', { missingScopes: ['npc', 'audit'] });
    weak.when(revokeKey, 'admin', 'owner', now).then('FORBIDDEN');
    weak.when(revokeKey, 'auditor', 'auditor', now).then(revoked('auditor'));
    weak.when(revokeKey, 'stranger', 'auditor', now).then('UNAUTHORIZED');
  });

  it('is allowed for an admin key when another has no expiry', () => {
    issued(admin).when(revokeKey, 'owner', 'admin', now).then(revoked('admin'));
  });

  it.each([earlier, later])('is allowed for an admin key that expires at %s', (expiresAt) => {
    issued({ ...admin, expiresAt })
      .when(revokeKey, 'owner', 'admin', now)
      .then(revoked('admin'));
  });
});

describe('changing a key', () => {
  it('is refused for a key with scopes that the other one lacks [11.4o]', () => {
    const tenant = issued(newKey('admin', { scopes: ['admin'] }));
    const slow = { rateLimit: { limit: 1, windowSeconds: 86_400 } };
    tenant.when(changeKey, 'admin', 'owner', slow, now).then('FORBIDDEN');
    tenant
      .when(changeKey, 'admin', 'admin', slow, now)
      .then([{ type: 'KeyChanged', data: { keyId: 'admin', ...slow } }]);
    tenant.when(changeKey, 'owner', 'admin', { name: 'admin' }, now).then([]);
    tenant.when(changeKey, 'stranger', 'admin', slow, now).then('UNAUTHORIZED');
  });
});

describe('every decision', () => {
  const keyId = fc.nat(9).map((id) => (id === 0 ? 'owner' : `key-${String(id)}`));
  const step = fc.oneof(
    fc.record({
      by: keyId,
      id: keyId,
      scopes: fc.subarray<Scope>([...scopes]),
      expiresAt: fc.constantFrom(later, null),
      revokes: fc.constant(false),
    }),
    fc.record({ by: keyId, id: keyId, revokes: fc.constant(true) }),
  );

  it('leaves a tenant an owner key, grants and revokes no scope that the actor lacks, and never reuses a key id', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let tenant = studio;
        for (const { by, id, revokes, ...more } of steps) {
          const grantor = keyIn(tenant.state.keys, by);
          const known = keyIn(tenant.state.keys, id);
          const decided = revokes
            ? tenant.when(revokeKey, by, id, now)
            : tenant.when(issueKey, by, newKey(id, more), now);
          if (decided.events === null) continue;
          tenant = decided.and;
          for (const { type, data } of decided.events) {
            if (type === 'KeyIssued')
              expect(grantor?.scopes).toEqual(expect.arrayContaining(data['scopes'] as Scope[]));
            if (type === 'KeyRevoked')
              expect(grantor?.scopes).toEqual(expect.arrayContaining([...(known?.scopes ?? [])]));
          }
          const keys = keysIn(tenant.state.keys);
          expect(keys.some(({ owner, revoked }) => owner && !revoked)).toBe(true);
          expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(keys.length);
        }
        expect(JSON.parse(JSON.stringify(tenant.state))).toEqual(tenant.state);
      }),
    );
  });
});

describe('choosing an engine', () => {
  it('is recorded as an event, except when the engine is already chosen', () => {
    const chosen = studio.when(chooseCortex, 'openai').and;
    studio.when(chooseCortex, 'openai').then([{ type: 'CortexChosen', data: { cortexId: 'openai' } }]);
    chosen.when(chooseCortex, 'openai').then([]);
    chosen.when(chooseCortex, 'scripted').then([{ type: 'CortexChosen', data: { cortexId: 'scripted' } }]);
  });
});
