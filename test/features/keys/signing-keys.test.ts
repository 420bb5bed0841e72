import { verify } from 'node:crypto';

import { calculateJwkThumbprint, compactVerify, createLocalJWKSet, EmbeddedJWK, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { unwrap, wrap } from '../../../src/features/keys/key-wrap.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { openSigningKeys, type SigningKeyDeps } from '../../../src/features/keys/signing-keys.js';
import { addSigningKey, MAX_SIGNING_KEYS } from '../../../src/features/keys/domain/decide-signing-keys.js';
import { revokeSigningKeySince, rotateSigningKey } from '../../../src/features/keys/change-signing-keys.js';
import { FOLLOW_MS, followSigningKeys } from '../../../src/features/keys/follow-signing-keys.js';
import type { Command } from '../../../src/kernel/streams/run-command.js';
import { READ_AGAIN_MS } from '../../../src/kernel/streams/spaced-reads.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { StartProblem } from '../../../src/kernel/base/start-problem.js';
import type { EventStore, RecordedEvent } from '../../../src/ports/event-store.js';
import { sha256Hex } from '../../../src/kernel/crypto/sha256.js';
import { hashInput } from '../../support/hash-input.js';
import { isBornSealed } from '../../../src/features/keys/make-signing-key.js';
import { signingKeyFold } from '../../../src/features/keys/signing-key-fold.js';
import type { SigningKeyState } from '../../../src/features/keys/domain/signing-key-state.js';
import { ManualClock } from '../../support/manual-clock.js';
import { seals } from '../../support/seals.js';
import { seededRandom } from '../../support/seeded-random.js';
import { storeWith } from '../../support/streams.js';

const wrapKey = new Uint8Array(32).fill(9);
const open = (events: EventStore, more: Partial<SigningKeyDeps> = {}) => {
  const clock = new ManualClock();
  const deps = {
    events,
    clock,
    writers: new StreamWriters(events, clock, { seals }),
    random: seededRandom('keys'),
    wrapKey,
    seals,
  };
  return openSigningKeys({ ...deps, alg: 'EdDSA', ...more });
};
const claims = { sub: 'guard', jti: 'turn', revision: 4 };
const verdict = { typ: 'verdict+jwt' } as const;

describe('the signing keys', () => {
  it('are made in an empty store and are kept across a restart', async () => {
    const events = new MemoryEventStore();
    const first = await open(events);
    const second = await open(events, { random: seededRandom('another start') });
    expect(second.current).toEqual(first.current);
    expect(await second.publicJwks()).toEqual(await first.publicJwks());
    expect(await second.sign(first.current.kid, claims, verdict)).toBe(
      await first.sign(first.current.kid, claims, verdict),
    );
    expect(await events.lastPosition()).toBe(1);
  });

  it('are one key when two servers start at the same time', async () => {
    const events = new MemoryEventStore();
    const [one, other] = await Promise.all([open(events), open(events, { random: seededRandom('other') })]);
    expect(one.current).toEqual(other.current);
    expect(await events.lastPosition()).toBe(1);
  });

  it('make signatures that a JOSE library verifies with the published set', async () => {
    const keys = await open(new MemoryEventStore());
    const published = createLocalJWKSet({ keys: (await keys.publicJwks()) as never });
    const token = await keys.sign(keys.current.kid, claims, verdict);
    const { protectedHeader, payload } = await compactVerify(token, published);
    expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'verdict+jwt', kid: keys.current.kid });
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual(claims);
    const [head = '', body = '', signature = ''] = token.split('.');
    const publicKey = await keys.publicKey(keys.current.kid);
    if (publicKey === undefined) throw new Error('there is no public key');
    expect(verify(null, Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
  });

  it('include their public key on request, after the members of every header', async () => {
    const keys = await open(new MemoryEventStore());
    const token = await keys.sign(keys.current.kid, claims, { typ: 'soul+jwt', withJwk: true });
    const { protectedHeader } = await compactVerify(token, EmbeddedJWK);
    const [{ use: _, kid, ...jwk } = {}] = await keys.publicJwks();
    expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'soul+jwt', kid, jwk });
    expect(Object.keys(protectedHeader)).toEqual(['alg', 'typ', 'kid', 'jwk']);
  });

  it('are named by their RFC 7638 thumbprint and publish nothing private [2.9f]', async () => {
    const keys = await open(new MemoryEventStore());
    const [jwk] = (await keys.publicJwks()) as unknown as JWK[];
    expect(await calculateJwkThumbprint(jwk ?? {})).toBe(keys.current.kid);
    expect(Object.keys(jwk ?? {}).sort()).toEqual(['crv', 'kid', 'kty', 'use', 'x']);
  });

  it('make the same signature for the same claims in any order', async () => {
    const keys = await open(new MemoryEventStore());
    const turned = Object.fromEntries(Object.entries(claims).reverse());
    expect(await keys.sign(keys.current.kid, turned, verdict)).toBe(await keys.sign(keys.current.kid, claims, verdict));
  });

  it('gain a new key for another algorithm name, while the old one keeps its name [2.9f, 2.9i]', async () => {
    const events = new MemoryEventStore();
    const before = await open(events);
    const token = await before.sign(before.current.kid, claims, verdict);
    const after = await open(events, { alg: 'Ed25519', random: seededRandom('next') });
    expect(after.current.alg).toBe('Ed25519');
    expect(after.current.kid).not.toBe(before.current.kid);
    expect(await after.sign(before.current.kid, claims, verdict)).toBe(token);
    expect((await after.publicJwks()).map(({ kid }) => kid)).toEqual([before.current.kid, after.current.kid]);
    expect((await open(events)).current).toEqual(before.current);
  });

  it('are stored only in wrapped form', async () => {
    const events = new MemoryEventStore();
    await open(events);
    const drawn = seededRandom('keys');
    // The command’s name is drawn before the key.
    drawn.bytes(12);
    const key = Buffer.from(drawn.bytes(32));
    const stored = JSON.stringify(await events.readAll(0, 10));
    const sealed = Buffer.from(JSON.parse(stored)[0].data.wrapped.sealed, 'base64url');
    expect(sealed).toHaveLength(key.length + 16);
    expect(sealed.includes(key)).toBe(false);
    expect(stored).not.toContain(key.toString('base64url'));
    expect(unwrap(wrapKey, JSON.parse(stored)[0].data.kid, JSON.parse(stored)[0].data.wrapped)).toEqual(key);
  });

  it('cannot be unwrapped with another secret, which adds none', async () => {
    const events = new MemoryEventStore();
    await open(events);
    for (const alg of ['Ed25519', 'EdDSA'] as const) {
      await expect(open(events, { wrapKey: new Uint8Array(32), alg })).rejects.toThrow(StartProblem);
    }
    expect(await events.lastPosition()).toBe(1);
  });

  it('refuse to sign with a key that was never made', async () => {
    const keys = await open(new MemoryEventStore());
    await expect(keys.sign('unknown', claims, verdict)).rejects.toThrow('created the signing key unknown');
  });
});

describe('stored signing keys that somebody changed', () => {
  /** A store with a key that was rotated away and revoked. */
  const revoked = async () => {
    const events = new MemoryEventStore();
    const clock = new ManualClock();
    const writers = new StreamWriters(events, clock, { seals });
    const deps = { events, clock, writers, random: seededRandom('keys'), wrapKey, seals, alg: 'EdDSA' as const };
    const signingKeys = await openSigningKeys(deps);
    const command = (commandId: string): Command => ({
      ...{ tenant: 'local', actor: 'owner', commandId, correlationId: commandId, causationId: null },
    });
    const { kid } = signingKeys.current;
    await rotateSigningKey({ ...deps, signingKeys }, command('rotate'));
    const since = '2026-01-01T00:00:00.000Z';
    await revokeSigningKeySince({ ...deps, signingKeys }, { kid, since, reason: 'stolen' }, command('revoke'));
    return { events, kid, signingKeys };
  };
  const edited = (events: EventStore, change: (event: RecordedEvent) => RecordedEvent): EventStore =>
    storeWith(events, {
      read: async (...range) => {
        const page = await events.read(...range);
        return { ...page, events: page.events.map(change) };
      },
    });

  it('do not open: a changed public half, another kid, or an event without its seal [10.13f]', async () => {
    const { events } = await revoked();
    const changes: ((event: RecordedEvent) => RecordedEvent)[] = [
      (event) => ({ ...event, data: { ...event.data, x: `${'A'.repeat(42)}E` } }),
      ({ meta: { mac: _, ...meta }, ...event }) => ({ ...event, meta }),
      (event) =>
        event.type === 'SigningKeyRevoked'
          ? { ...event, data: { ...event.data, since: '2027-01-01T00:00:00.000Z' } }
          : event,
    ];
    for (const change of changes) await expect(open(edited(events, change))).rejects.toThrow(StartProblem);
  });

  it('do not sign again by a copy of the event that made them [10.13f]', async () => {
    const { events, kid } = await revoked();
    const page = await events.read('signing-keys', { direction: 'forwards', from: 0, limit: 9 });
    const [made, , last] = page.events as [RecordedEvent, RecordedEvent, RecordedEvent];
    const { mac: _, ...meta } = { ...made.meta, prevHash: last.meta.hash };
    const copy = { ...made, id: '01a22b12-5742-872a-97e6-000000000000', revision: 3, meta };
    await events.append('signing-keys', 2, [{ ...copy, meta: { ...meta, hash: sha256Hex(hashInput(copy)) } }]);
    await expect(open(events)).rejects.toThrow('revision 3');
    expect(signingKeyFold.evolve(await allOf(events), copy).filter((key) => key.kid === kid)).toMatchObject([
      { revoked: { reason: 'stolen' } },
    ]);
  });

  it('count as sealed since the beginning, however the nonce of the first is written [10.13d]', async () => {
    const { events } = await revoked();
    const padded = edited(events, (event) => {
      const { nonce, ...wrapped } = (event.data['wrapped'] ?? {}) as { readonly nonce?: string };
      return nonce === undefined
        ? event
        : { ...event, data: { ...event.data, wrapped: { ...wrapped, nonce: `${nonce}=` } } };
    });
    expect(isBornSealed(seals, await allOf(padded))).toBe(true);
  });
});

const allOf = async (events: EventStore): Promise<SigningKeyState> => {
  const page = await events.read('signing-keys', { direction: 'forwards', from: 0, limit: 3 });
  return page.events.reduce((state, event) => signingKeyFold.evolve(state, event), signingKeyFold.initial);
};

describe('the signing keys that another server makes later', () => {
  /** A store that counts how often the keys are read, and two servers on it: an earlier one, and one that signs under another name. */
  const rolling = async (more: Partial<EventStore> = {}) => {
    const memory = new MemoryEventStore();
    const reads = { count: 0 };
    const events = storeWith(memory, {
      read: async (...range) => {
        reads.count += 1;
        return memory.read(...range);
      },
      ...more,
    });
    const clock = new ManualClock();
    const running = await open(events, { clock });
    const next = await open(memory, { alg: 'Ed25519', random: seededRandom('next') });
    reads.count = 0;
    return { running, next, clock, reads };
  };

  it('verify and sign on a server that started earlier', async () => {
    const { running, next } = await rolling();
    expect(running.current.alg).toBe('EdDSA');
    const { kid } = next.current;
    const token = await next.sign(kid, claims, verdict);
    const publicKey = await running.publicKey(kid);
    if (publicKey === undefined) throw new Error('the new key is unknown');
    await compactVerify(token, publicKey);
    expect(await running.sign(kid, claims, verdict)).toBe(token);
  });

  it('can sign on the earlier server first', async () => {
    const { running, next } = await rolling();
    expect(await running.sign(next.current.kid, claims, verdict)).toBe(
      await next.sign(next.current.kid, claims, verdict),
    );
  });

  it('are in the set that the earlier server publishes', async () => {
    const { running, next } = await rolling();
    expect(await running.publicJwks()).toEqual(await next.publicJwks());
  });

  it('are looked up at most once a second, and never if they are known', async () => {
    const { running, clock, reads } = await rolling();
    await running.sign(running.current.kid, claims, verdict);
    expect(reads.count).toBe(0);
    expect(await running.publicKey('unknown')).toBeUndefined();
    expect(reads.count).toBeGreaterThan(0);
    reads.count = 0;
    await running.publicJwks();
    const more = Promise.all(['one', 'two', 'three'].map((kid) => running.publicKey(kid)));
    await clock.advance(READ_AGAIN_MS - 1);
    expect(reads.count).toBe(0);
    await clock.advance(1);
    expect(await more).toEqual([undefined, undefined, undefined]);
    expect(reads.count).toBe(1);
  });

  it('are found for callers within that second once it is over', async () => {
    const memory = new MemoryEventStore();
    const clock = new ManualClock();
    const running = await open(memory, { clock });
    await running.publicKey('unknown');
    const next = await open(memory, { alg: 'Ed25519', random: seededRandom('next') });
    const found = running.publicKey(next.current.kid);
    await clock.advance(READ_AGAIN_MS);
    expect(await found).toBeDefined();
  });

  it('are not reported as unknown while the store is unavailable, and the published set stays the same', async () => {
    const memory = new MemoryEventStore();
    let away = false;
    const clock = new ManualClock();
    const store = storeWith(memory, {
      read: async (...range) => {
        if (away) throw new Rejection('STORE_UNAVAILABLE');
        return memory.read(...range);
      },
    });
    const keys = await open(store, { clock });
    away = true;
    expect(await keys.publicJwks()).toHaveLength(1);
    await clock.advance(READ_AGAIN_MS);
    await expect(keys.publicKey('unknown')).rejects.toThrow(Rejection);
  });

  it('are never looked up when the server is the only writer', async () => {
    const { running, reads } = await rolling({ soleWriter: true });
    expect(await running.publicKey('unknown')).toBeUndefined();
    expect(await running.publicKey('unknown')).toBeUndefined();
    await running.publicJwks();
    expect(reads.count).toBe(0);
  });
});

describe('the signing keys after a rotation', () => {
  const at = (text: string) => new Date(text);
  const command = (commandId: string): Command => ({
    ...{ tenant: 'local', actor: 'owner', commandId, correlationId: commandId, causationId: null },
  });
  /** A server on a store, with its changes to the keys. */
  const serverOn = async (events: EventStore, seed: string, alg: SigningKeyDeps['alg'] = 'EdDSA') => {
    const clock = new ManualClock();
    const deps = {
      events,
      clock,
      writers: new StreamWriters(events, clock, { seals }),
      random: seededRandom(seed),
      wrapKey,
      seals,
      alg,
    };
    const keys = await openSigningKeys(deps);
    const changes = { ...deps, signingKeys: keys };
    return {
      clock,
      keys,
      rotate: (by: Command) => rotateSigningKey(changes, by),
      revoke: (kid: string, since: string) =>
        revokeSigningKeySince(changes, { kid, since, reason: 'It was stolen.' }, command(`revoke ${kid} ${since}`)),
    };
  };
  const codeOf = (refused: Promise<unknown>): Promise<unknown> =>
    refused.then(
      () => 'allowed',
      (error: unknown) => (error as Rejection).code,
    );

  it('sign with the new one of the same algorithm, and verify with both [11.8a, 11.8b]', async () => {
    const events = Object.assign(new MemoryEventStore(), { soleWriter: true as const });
    const { keys, rotate } = await serverOn(events, 'one');
    const before = keys.current;
    const token = await keys.sign(before.kid, claims, verdict);
    const made = await rotate(command('rotate'));
    expect(keys.current).toEqual({ kid: made.kid, alg: before.alg });
    expect(made.kid).not.toBe(before.kid);
    expect(await keys.sign(before.kid, claims, verdict)).toBe(token);
    expect((await keys.publicJwks()).map(({ kid }) => kid)).toEqual([before.kid, made.kid]);
    expect((await open(events)).current).toEqual(keys.current);
  });

  it('are the same if the command is repeated [1.7a]', async () => {
    const { keys, rotate } = await serverOn(new MemoryEventStore(), 'one');
    const made = await rotate(command('once'));
    expect((await rotate({ ...command('once'), keyed: true, resumed: true })).kid).toBe(made.kid);
    expect(keys.all()).toHaveLength(2);
  });

  it('reach another server without a request, as a revocation does [11.8a, 11.8h]', async () => {
    const events = new MemoryEventStore();
    const { keys, rotate, revoke } = await serverOn(events, 'one');
    const other = await serverOn(events, 'other');
    await using _following = followSigningKeys(other.keys, other.clock);
    const old = keys.current.kid;
    const made = await rotate(command('rotate'));
    await revoke(old, '2026-01-01T00:00:00.000Z');
    expect([other.keys.current.kid, other.keys.isVoid(old, at('2026-01-02T00:00:00Z'))]).toEqual([old, false]);
    await other.clock.advance(FOLLOW_MS);
    expect([other.keys.current.kid, other.keys.isVoid(old, at('2026-01-02T00:00:00Z'))]).toEqual([made.kid, true]);
  });

  it('are followed again after the store was away', async () => {
    const memory = new MemoryEventStore();
    let away = false;
    const store = storeWith(memory, {
      read: async (...range) => {
        if (away) throw new Rejection('STORE_UNAVAILABLE');
        return memory.read(...range);
      },
    });
    const other = await serverOn(store, 'other');
    await using _following = followSigningKeys(other.keys, other.clock);
    const { rotate } = await serverOn(memory, 'one');
    const made = await rotate(command('rotate'));
    away = true;
    await other.clock.advance(FOLLOW_MS);
    expect(other.keys.current.kid).not.toBe(made.kid);
    away = false;
    await other.clock.advance(FOLLOW_MS);
    expect(other.keys.current.kid).toBe(made.kid);
  });

  it('void what the old one signed since its revocation, in whole seconds, and nothing before [11.8e]', async () => {
    const { keys, rotate, revoke } = await serverOn(new MemoryEventStore(), 'one');
    const old = keys.current.kid;
    const made = await rotate(command('rotate'));
    await revoke(old, '2026-11-20T08:00:00.500Z');
    const voids = ['07:59:59.999', '08:00:00.000', '08:00:00.900', '09:00:00.000'].map((time) =>
      keys.isVoid(old, at(`2026-11-20T${time}Z`)),
    );
    expect(voids).toEqual([false, true, true, true]);
    expect(keys.isVoid(old, new Date(NaN))).toBe(true);
    expect(keys.isVoid(made.kid, at('2026-11-20T09:00:00Z'))).toBe(false);
    expect((await keys.publicJwks()).map(({ kid }) => kid)).toEqual([old, made.kid]);
  });

  it('can be revoked as of an earlier time, and never as of a later one [11.8g]', async () => {
    const { keys, rotate, revoke } = await serverOn(new MemoryEventStore(), 'one');
    const old = keys.current.kid;
    await rotate(command('rotate'));
    for (const [since, stands] of [
      ['2026-11-20T08:00:00.000Z', '2026-11-20T08:00:00.000Z'],
      ['2026-11-21T08:00:00.000Z', '2026-11-20T08:00:00.000Z'],
      ['2026-11-19T08:00:00.000Z', '2026-11-19T08:00:00.000Z'],
    ] as const)
      expect((await revoke(old, since)).revoked?.since).toBe(stands);
  });

  it('are refused as revoked while they sign, or if nobody made them [11.8f]', async () => {
    const { keys, revoke } = await serverOn(new MemoryEventStore(), 'one');
    expect(await codeOf(revoke(keys.current.kid, '2026-01-01T00:00:00.000Z'))).toBe('SIGNING_KEY_CURRENT');
    expect(await codeOf(revoke('unknown', '2026-01-01T00:00:00.000Z'))).toBe('SIGNING_KEY_NOT_FOUND');
  });

  it('leave a revoked key aside when its algorithm is chosen again', async () => {
    const events = new MemoryEventStore();
    const { keys } = await serverOn(events, 'one');
    const old = keys.current.kid;
    const { revoke } = await serverOn(events, 'other', 'Ed25519');
    await revoke(old, '2026-01-01T00:00:00.000Z');
    // A process that is running signs on: it has no other key of this name.
    await keys.refresh();
    expect(keys.current.kid).toBe(old);
    const { current } = (await serverOn(events, 'third')).keys;
    expect([current.alg, current.kid === old]).toEqual(['EdDSA', false]);
    await keys.refresh();
    expect(keys.current).toEqual(current);
  });

  it('are bounded by what a bundle may hold [11.8d]', () => {
    const made = { kid: 'k', alg: 'EdDSA', x: '', wrapped: { nonce: '', sealed: '' } } as const;
    const full = Array.from({ length: MAX_SIGNING_KEYS }, () => ({ ...made, madeAt: '', revoked: null }));
    expect(addSigningKey(full.slice(1), made)).toEqual([{ type: 'SigningKeyMade', data: made }]);
    expect(addSigningKey(full, made)).toMatchObject({ code: 'SIGNING_KEYS_FULL' });
  });
});

describe('a wrapped secret', () => {
  const wrapped = wrap(wrapKey, 'name', Buffer.from('the secret'), new Uint8Array(12));

  it('unwraps to the same bytes', () => {
    expect(Buffer.from(unwrap(wrapKey, 'name', wrapped) ?? []).toString()).toBe('the secret');
  });

  it('does not unwrap with another key, under another name, or after a change', () => {
    expect(unwrap(new Uint8Array(32), 'name', wrapped)).toBeNull();
    expect(unwrap(wrapKey, 'other', wrapped)).toBeNull();
    expect(unwrap(wrapKey, 'name', { ...wrapped, sealed: `A${wrapped.sealed.slice(1)}` })).toBeNull();
    expect(unwrap(wrapKey, 'name', { ...wrapped, nonce: `B${wrapped.nonce.slice(1)}` })).toBeNull();
    expect(unwrap(wrapKey, 'name', { nonce: '', sealed: '' })).toBeNull();
  });
});
