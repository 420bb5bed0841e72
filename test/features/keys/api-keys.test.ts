import { describe, expect, it, vi } from 'vitest';

import { hashInput } from '../../support/hash-input.js';
import { sha256Hex } from '../../../src/kernel/crypto/sha256.js';
import { recoverOwnerKey } from '../../../src/features/keys/first-start.js';
import { MemoryOwnerKeyFile } from '../../support/memory/owner-key-file.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import {
  addOwnerKey,
  createTenantWithKey,
  draftKey,
  issueApiKey,
  type IssuedKey,
  type KeyWish,
  ownsServer,
  revokeApiKey,
  withLastUse,
} from '../../../src/features/keys/api-keys.js';
import { FEED_RETRY_MS } from '../../../src/features/keys/key-directory.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { keysIn } from '../../../src/features/keys/domain/key-map.js';
import { parseApiKey } from '../../../src/features/keys/domain/api-key.js';
import { type Principal, scopes } from '../../../src/kernel/base/scopes.js';
import type { Tier } from '../../../src/kernel/base/tiers.js';
import type { EventStore, RecordedEvent, Subscription } from '../../../src/ports/event-store.js';
import { event } from '../../support/events.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';
import { storeWith } from '../../support/streams.js';
import { type KeyServer, openKeyServer, recordIn } from './key-scene.js';
import { seals } from '../../support/seals.js';
import { appendNext } from '../../support/append-next.js';

let commands = 0;
const command = (commandId = `command-${String((commands += 1))}`) => ({ commandId, correlationId: 'request' });
const wish = (more: Partial<KeyWish> = {}): KeyWish => ({
  name: 'game',
  scopes: ['npc'],
  rateLimit: null,
  expiresAt: null,
  test: false,
  ...more,
});

const tokenOf = ({ key }: IssuedKey): string => {
  if (key === null) throw new Error('the key was shown before');
  return key;
};
const open = (server: KeyServer, token: string): Principal | null =>
  server.directory.authenticate(`Bearer ${token}`, server.clock.now());

const found = async (server: KeyServer, tenantId: string, tier: Tier | null = null, actor = 'system') => {
  const commandId = command().commandId;
  const draft = draftKey(server, commandId, false);
  const issued = await createTenantWithKey(server, actor, tenantId, tier, draft, command(commandId));
  const token = tokenOf(issued);
  const principal = open(server, token);
  if (principal === null) throw new Error('the owner key does not open');
  return { token, principal };
};

const refusal = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof Rejection) return error.code;
    throw error;
  }
  return 'done';
};

const everything = async (events: EventStore): Promise<readonly RecordedEvent[]> => events.readAll(0, 1_000);

describe('an owner key that was issued before a scope existed', () => {
  it('has this scope too, and is shown with it [11.4h]', async () => {
    const issuing = await openKeyServer();
    const { token } = await found(issuing, 'studio');
    const store = new MemoryEventStore();
    for (const { stream, type, data } of await issuing.events.readAll(0, 10)) {
      const scopesThen = Array.isArray(data['scopes']) ? { scopes: scopes.filter((scope) => scope !== 'facts') } : {};
      await recordIn(store, stream, [{ type, data: { ...data, ...scopesThen } }]);
    }
    const server = await openKeyServer(store);
    expect(open(server, token)?.scopes).toEqual(scopes);
    const by = open(server, token) as Principal;
    expect((await issueApiKey(server, by, wish({ scopes: ['facts'] }), command())).issued.scopes).toEqual(['facts']);
    await Promise.all([issuing, server].map(({ directory }) => directory[Symbol.asyncDispose]()));
  });
});

describe('an API key', () => {
  it('works as soon as it is issued, for its tenant, with its scopes [1.3i]', async () => {
    const server = await openKeyServer();
    const owner = await found(server, 'local');
    const issued = await issueApiKey(server, owner.principal, wish({ scopes: ['audit', 'npc'] }), command());
    expect(open(server, tokenOf(issued))).toEqual({
      tenant: 'local',
      keyId: issued.issued.keyId,
      scopes: ['npc', 'audit'],
      rateLimit: { limit: 100, windowSeconds: 60 },
    });
  });

  it('is accepted after a restart', async () => {
    const events = new MemoryEventStore();
    const first = await openKeyServer(events);
    const owner = await found(first, 'local');
    const studio = await found(first, 'studio', 'pro');
    const second = await openKeyServer(events);
    expect(open(second, owner.token)).toEqual(owner.principal);
    expect(open(second, studio.token)).toEqual(studio.principal);
  });

  it('appears in no event; only its hash does [1.3h]', async () => {
    const server = await openKeyServer();
    const owner = await found(server, 'local');
    const issued = await issueApiKey(server, owner.principal, wish({ test: true }), command());
    const stored = JSON.stringify(await everything(server.events));
    for (const token of [owner.token, tokenOf(issued)]) {
      expect(stored).not.toContain(token);
      expect(stored).not.toContain(token.split('_')[3]);
    }
    expect(tokenOf(issued)).toMatch(/^am_test_/);
  });

  it('is not accepted under another server secret [1.3h]', async () => {
    const events = new MemoryEventStore();
    const owner = await found(await openKeyServer(events), 'local');
    expect(open(await openKeyServer(events, { hashKey: new Uint8Array(32).fill(8) }), owner.token)).toBeNull();
  });

  it('is accepted until the instant at which it expires', async () => {
    const server = await openKeyServer();
    const { principal } = await found(server, 'local');
    const expiresAt = new Date(server.clock.now().getTime() + 1_000).toISOString();
    const token = tokenOf(await issueApiKey(server, principal, wish({ expiresAt }), command()));
    await server.clock.advance(999);
    expect(open(server, token)).not.toBeNull();
    await server.clock.advance(1);
    expect(open(server, token)).toBeNull();
  });

  it('is not accepted from a header that is missing, has another scheme, or differs by one character', async () => {
    const server = await openKeyServer();
    const { token, principal } = await found(server, 'local');
    const opens = (header: string | undefined) => server.directory.authenticate(header, server.clock.now());
    const unknown = draftKey(server, 'never issued', false).token;
    const another = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
    for (const header of [undefined, '', 'Bearer', 'Bearer ', token, `Basic ${token}`, `Bearer ${token} ${token}`]) {
      expect(opens(header)).toBeNull();
    }
    for (const wrong of [unknown, another, token.toUpperCase(), `${token}x`])
      expect(opens(`Bearer ${wrong}`)).toBeNull();
    expect(opens(`bearer  ${token}`)).toEqual(principal);
  });

  it('with the right id but other random bytes is not accepted even if its checksum is right', async () => {
    const server = await openKeyServer();
    const commandId = command().commandId;
    const { principal } = await found(server, 'local');
    await issueApiKey(server, principal, wish(), command(commandId));
    const forged = draftKey(server, commandId, false).token;
    expect(parseApiKey(forged)).not.toBeNull();
    expect(open(server, forged)).toBeNull();
  });

  it('is marked as used only when it is accepted', async () => {
    const server = await openKeyServer();
    const { token, principal } = await found(server, 'local');
    const used = async () => (await server.keyUsage.lastUsedAt([principal.keyId])).get(principal.keyId);
    const before = await used();
    await server.clock.advance(60_000);
    open(server, `${token}x`);
    expect(await used()).toBe(before);
    open(server, token);
    expect(await used()).toBe(server.clock.now().toISOString());
  });
});

describe('issuing a key', () => {
  it('returns the same key id and no key when the command is repeated [1.3h]', async () => {
    const server = await openKeyServer();
    const { principal } = await found(server, 'local');
    const first = await issueApiKey(server, principal, wish(), command('once'));
    const repeat = await issueApiKey(server, principal, wish(), command('once'));
    expect(repeat).toEqual({ key: null, issued: first.issued });
    expect(open(server, tokenOf(first))).not.toBeNull();
    expect(await everything(server.events)).toHaveLength(4);
  });

  it('is refused for scopes that the granting key lacks, and for a granting key that was revoked meanwhile', async () => {
    const server = await openKeyServer();
    const owner = await found(server, 'local');
    const admin = await issueApiKey(server, owner.principal, wish({ scopes: ['npc', 'admin'] }), command());
    const principal = open(server, tokenOf(admin));
    if (principal === null) throw new Error('the admin key does not open');
    expect(await refusal(issueApiKey(server, principal, wish({ scopes: ['ops'] }), command()))).toBe('FORBIDDEN');
    await revokeApiKey(server, owner.principal, admin.issued.keyId, command());
    expect(await refusal(issueApiKey(server, principal, wish(), command()))).toBe('UNAUTHORIZED');
  });

  it('on two servers at the same time issues every requested key', async () => {
    const events = new MemoryEventStore();
    const one = await openKeyServer(events);
    const { principal } = await found(one, 'local');
    const other = await openKeyServer(events, { seed: 'other' });
    const issued = await Promise.all(
      [one, other, one, other].map((server) => issueApiKey(server, principal, wish(), command())),
    );
    await settle();
    for (const server of [one, other]) {
      for (const key of issued) expect(open(server, tokenOf(key))?.keyId).toBe(key.issued.keyId);
    }
  });
});

describe('the limit of a key', () => {
  it('is its own limit first, then its tenant’s tier, then the server’s [1.4a]', async () => {
    const server = await openKeyServer(undefined, { tiersActive: true });
    const free = await found(server, 'free-studio', 'free');
    const local = await found(server, 'local');
    expect(free.principal.rateLimit).toEqual({ limit: 60, windowSeconds: 60 });
    expect(local.principal.rateLimit).toEqual({ limit: 100, windowSeconds: 60 });
    const own = await issueApiKey(
      server,
      free.principal,
      wish({ rateLimit: { limit: 5, windowSeconds: 1 } }),
      command(),
    );
    expect(open(server, tokenOf(own))?.rateLimit).toEqual({ limit: 5, windowSeconds: 1 });
    const off = await issueApiKey(server, free.principal, wish({ rateLimit: 'off' }), command());
    expect(open(server, tokenOf(off))?.rateLimit).toBeNull();
  });

  it('is the server’s while tiers are not active [1.4e]', async () => {
    const server = await openKeyServer();
    expect((await found(server, 'studio', 'free')).principal.rateLimit).toEqual({ limit: 100, windowSeconds: 60 });
  });
});

describe('the last use of keys', () => {
  it('is known, or null for a key that was never used [11.4c]', async () => {
    const server = await openKeyServer();
    const owner = await found(server, 'local');
    const game = await issueApiKey(server, owner.principal, wish(), command());
    const listed = await withLastUse(server, keysIn(server.directory.tenant('local').keys));
    expect(listed.map(({ issued, lastUsedAt }) => [issued.keyId, lastUsedAt])).toEqual([
      [owner.principal.keyId, server.clock.now().toISOString()],
      [game.issued.keyId, null],
    ]);
  });
});

describe('revoking a key', () => {
  it('takes effect immediately on the same server, and on others through the feed [11.4e]', async () => {
    const events = new MemoryEventStore();
    const one = await openKeyServer(events);
    const owner = await found(one, 'local');
    const other = await openKeyServer(events);
    const { issued, key } = await issueApiKey(one, owner.principal, wish(), command());
    await settle();
    expect(open(other, key ?? '')).not.toBeNull();
    await revokeApiKey(one, owner.principal, issued.keyId, command());
    expect(open(one, key ?? '')).toBeNull();
    await settle();
    expect(open(other, key ?? '')).toBeNull();
  });

  it('is refused for the key of another tenant as for an unknown key', async () => {
    const server = await openKeyServer();
    const local = await found(server, 'local');
    const studio = await found(server, 'studio');
    const revoke = (keyId: string) => refusal(revokeApiKey(server, local.principal, keyId, command()));
    expect(await revoke(studio.principal.keyId)).toBe('KEY_NOT_FOUND');
    expect(await revoke('nothing')).toBe('KEY_NOT_FOUND');
    expect(await revoke(local.principal.keyId)).toBe('LAST_ADMIN_KEY');
    expect(open(server, studio.token)).not.toBeNull();
  });

  it('notifies each listener once, even if another server revoked the key', async () => {
    const events = new MemoryEventStore();
    const one = await openKeyServer(events);
    const { principal } = await found(one, 'local');
    const { issued } = await issueApiKey(one, principal, wish(), command());
    const other = await openKeyServer(events);
    const [here, there, stopped] = [vi.fn(), vi.fn(), vi.fn()];
    one.directory.onRevoked(issued.keyId, here);
    other.directory.onRevoked(issued.keyId, there);
    other.directory.onRevoked(issued.keyId, stopped)();
    await revokeApiKey(one, principal, issued.keyId, command());
    expect(here).toHaveBeenCalledOnce();
    await settle();
    expect(there).toHaveBeenCalledOnce();
    expect(stopped).not.toHaveBeenCalled();
  });

  it('notifies a late listener immediately', async () => {
    const server = await openKeyServer();
    const { principal } = await found(server, 'local');
    const { issued } = await issueApiKey(server, principal, wish(), command());
    await revokeApiKey(server, principal, issued.keyId, command());
    const late = vi.fn();
    server.directory.onRevoked(issued.keyId, late);
    expect(late).toHaveBeenCalledOnce();
  });

  it('notifies a listener in the same way as the expiry of the key', async () => {
    const server = await openKeyServer();
    const { principal } = await found(server, 'local');
    const expiresAt = new Date(server.clock.now().getTime() + 1_000).toISOString();
    const { issued } = await issueApiKey(server, principal, wish({ expiresAt }), command());
    const [listener, stopped] = [vi.fn(), vi.fn()];
    server.directory.onRevoked(issued.keyId, listener);
    server.directory.onRevoked(issued.keyId, stopped)();
    await server.clock.advance(1_000);
    expect(listener).toHaveBeenCalledOnce();
    expect(stopped).not.toHaveBeenCalled();
  });
});

describe('creating a tenant', () => {
  it('requires an owner key of the tenant local', async () => {
    const server = await openKeyServer();
    const local = await found(server, 'local');
    const studio = await found(server, 'studio');
    const admin = await issueApiKey(server, local.principal, wish({ scopes: [...scopes] }), command());
    const { directory } = server;
    expect(ownsServer(directory, local.principal)).toBe(true);
    expect(ownsServer(directory, studio.principal)).toBe(false);
    expect(ownsServer(directory, { ...local.principal, keyId: admin.issued.keyId })).toBe(false);
  });

  it('is refused when the tenant exists; a repeated command shows no key', async () => {
    const server = await openKeyServer();
    const create = () => {
      const draft = draftKey(server, 'once', false);
      return createTenantWithKey(server, 'system', 'studio', 'pro', draft, command('once'));
    };
    const first = await create();
    expect(await create()).toEqual({ key: null, issued: first.issued });
    expect(await refusal(found(server, 'studio'))).toBe('TENANT_EXISTS');
  });

  it('leaves no tenant when it is interrupted after the name was written, and can be retried', async () => {
    const events = new MemoryEventStore();
    const server = await openKeyServer(events);
    let refuse = true;
    const failing = Object.assign(Object.create(events) as EventStore, {
      append: async (...call: Parameters<EventStore['append']>) => {
        if (refuse && call[0] === 'tenant-studio') throw new Rejection('STORE_UNAVAILABLE');
        return events.append(...call);
      },
      read: events.read.bind(events),
      lastPosition: events.lastPosition.bind(events),
      subscribe: events.subscribe.bind(events),
    });
    const half = await openKeyServer(failing);
    expect(await refusal(found(half, 'studio'))).toBe('STORE_UNAVAILABLE');
    expect((await openKeyServer(events)).directory.tenant('studio').tenantId).toBeNull();
    refuse = false;
    const { token } = await found(half, 'studio');
    await settle();
    expect(open(server, token)?.tenant).toBe('studio');
  });

  it('gives every tenant keys that do not work for another', async () => {
    const server = await openKeyServer();
    const tenants = ['local', 'a', 'a-b', 'npc-a'];
    for (const tenantId of tenants) expect((await found(server, tenantId)).principal.tenant).toBe(tenantId);
    for (const tenantId of tenants) expect(keysIn(server.directory.tenant(tenantId).keys)).toHaveLength(1);
  });

  it('allows another owner key for the tenant later', async () => {
    const server = await openKeyServer();
    await found(server, 'local');
    const draft = draftKey(server, 'recovery', false);
    await addOwnerKey(server, 'local', draft, command('recovery'));
    const principal = open(server, draft.token);
    expect(principal?.scopes).toEqual(scopes);
    expect(principal !== null && ownsServer(server.directory, principal)).toBe(true);
  });
});

describe('a directory that follows other servers', () => {
  it('reads only the streams of tenants, however much else is written', async () => {
    const events = new MemoryEventStore();
    const { principal } = await found(await openKeyServer(events), 'local');
    const delivered: string[] = [];
    const counting = storeWith(events, {
      subscribe: async function* (options) {
        for await (const batch of events.subscribe(options)) {
          delivered.push(...batch.map(({ stream }) => stream));
          yield batch;
        }
      },
    });
    const other = await openKeyServer(counting);
    const one = await openKeyServer(events, { seed: 'one' });
    for (let turn = 0; turn < 50; turn += 1) await appendNext(events, `npc-local.${String(turn)}`, [event('e')]);
    const { key } = await issueApiKey(one, principal, wish(), command());
    await found(one, 'studio');
    await settle();
    expect(open(other, key ?? '')).not.toBeNull();
    expect(other.directory.tenant('studio').tenantId).toBe('studio');
    expect(delivered).toEqual(['tenant-local', 'tenant-studio', 'tenant-studio']);
  });

  it('reads nothing when its own server is the only writer', async () => {
    const events = storeWith(new MemoryEventStore(), {
      soleWriter: true,
      subscribe: () => {
        throw new Error('a feed that nobody needs');
      },
    });
    const server = await openKeyServer(events);
    const { principal } = await found(server, 'local');
    const { issued, key } = await issueApiKey(server, principal, wish(), command());
    await revokeApiKey(server, principal, issued.keyId, command());
    expect(open(server, key ?? '')).toBeNull();
    await server.directory[Symbol.asyncDispose]();
  });
});

describe('a tenant whose stream was continued by a newer server', () => {
  it('has no keys on the older server, which still follows other tenants and can start', async () => {
    const events = new MemoryEventStore();
    const one = await openKeyServer(events, { seed: 'one', onCutOff: () => undefined });
    const ours = await found(one, 'local');
    const theirs = await found(one, 'studio');
    const lost = vi.fn();
    const other = await openKeyServer(events, { onCutOff: lost });
    const second = await issueApiKey(one, ours.principal, wish(), command());
    await settle();
    expect([open(other, theirs.token), open(other, second.key ?? '')]).not.toContain(null);
    await recordIn(events, 'tenant-studio', [{ type: 'KeyRevoked', data: {} }], { version: 99 });
    await settle();
    expect(open(other, theirs.token)).toBeNull();
    await revokeApiKey(one, ours.principal, second.issued.keyId, command());
    await settle();
    expect(open(other, second.key ?? '')).toBeNull();
    expect(open(other, ours.token)).not.toBeNull();
    expect(lost.mock.calls).toEqual([
      [
        expect.objectContaining({
          message: expect.stringMatching(/^event \d+ \(KeyRevoked\) of the tenant studio cannot be read/) as string,
          cause: expect.objectContaining({ code: 'EVENT_VERSION_UNKNOWN' }) as Error,
        }),
      ],
    ]);
    const started = await openKeyServer(events, { onCutOff: lost });
    expect([open(started, ours.token), open(started, theirs.token)]).toEqual([expect.anything(), null]);
  });
});

describe('a tenant whose stream has an unreadable event', () => {
  it('has no keys, while revocations of other tenants still take effect and no start fails', async () => {
    const events = new MemoryEventStore();
    const one = await openKeyServer(events, { seed: 'one', onCutOff: () => undefined });
    const ours = await found(one, 'local');
    const theirs = await found(one, 'studio');
    const other = await openKeyServer(events, { onCutOff: () => undefined });
    await settle();
    await appendNext(events, 'tenant-studio', [{ ...event('damaged', { type: 'KeyRevoked' }), data: null as never }]);
    const second = await issueApiKey(one, ours.principal, wish(), command());
    await settle();
    expect([open(other, theirs.token), open(other, second.key ?? '')]).toEqual([null, expect.anything()]);
    await revokeApiKey(one, ours.principal, second.issued.keyId, command());
    await settle();
    expect(open(other, second.key ?? '')).toBeNull();
    const started = await openKeyServer(events, { onCutOff: () => undefined });
    expect([open(started, ours.token), open(started, theirs.token)]).toEqual([expect.anything(), null]);
  });
});

describe('a tenant whose stream was changed outside a server', () => {
  /** A store with the tenants local and studio, and the events of studio as `change` makes them. */
  const changed = async (change: (events: readonly RecordedEvent[]) => readonly RecordedEvent[]) => {
    const events = new MemoryEventStore();
    const one = await openKeyServer(events);
    const [ours, theirs] = [await found(one, 'local'), await found(one, 'studio')];
    const weak = await issueApiKey(one, theirs.principal, wish({ scopes: ['read'] }), command());
    const store = storeWith(events, {
      read: async (stream, range) => {
        const page = await events.read(stream, range);
        return stream === 'tenant-studio' ? { ...page, events: change(page.events) } : page;
      },
    });
    const onCutOff = vi.fn();
    const server = await openKeyServer(store, { onCutOff });
    return {
      server,
      ours: ours.token,
      theirs: theirs.token,
      weak: tokenOf(weak),
      problems: onCutOff.mock.calls.flat(),
    };
  };
  const edited = (event: RecordedEvent, data: object, meta: object = {}): RecordedEvent => ({
    ...event,
    data: { ...event.data, ...data },
    meta: { ...event.meta, ...meta },
  });
  const last = (change: (event: RecordedEvent) => RecordedEvent) => (events: readonly RecordedEvent[]) =>
    events.map((one) => (one.revision === 2 ? change(one) : one));
  const rehashed = (event: RecordedEvent): RecordedEvent => edited(event, {}, { hash: sha256Hex(hashInput(event)) });

  const resealed = (event: RecordedEvent): RecordedEvent => {
    const again = rehashed(event);
    return edited(again, {}, { mac: seals.of(again.meta.hash) });
  };

  it.each([
    ['scopes that were added', last((event) => edited(event, { scopes: ['read', 'audit'] }))],
    [
      'scopes that were added, with a hash for them',
      last((event) => rehashed(edited(event, { scopes: ['read', 'audit'] }))),
    ],
    ['a seal that was removed', last(({ meta: { mac: _, ...meta }, ...event }) => ({ ...event, meta }))],
    [
      'an event that does not follow the one before it',
      last((event) => resealed(edited(event, {}, { prevHash: '1'.repeat(64) }))),
    ],
  ])('has no keys because of %s, while other tenants go on [11.4p]', async (_, change) => {
    const { server, ours, theirs, weak, problems } = await changed(change);
    expect([open(server, ours) === null, open(server, theirs), open(server, weak)]).toEqual([false, null, null]);
    expect(problems).toEqual([
      expect.objectContaining({
        stream: 'tenant-studio',
        revision: expect.any(Number) as number,
        message: expect.stringContaining('(KeyIssued) of the tenant studio is not what a server recorded') as string,
      }),
    ]);
    await expect(recoverOwnerKey(server, new MemoryOwnerKeyFile(), 'studio')).rejects.toThrow(
      /would not be accepted either/,
    );
  });

  it('has its keys if nothing was changed', async () => {
    const { server, weak, problems } = await changed((events) => events);
    expect([open(server, weak)?.scopes, problems]).toEqual([['read'], []]);
  });

  it('may have begun without seals in an older store, but not have lost them since [11.4p]', async () => {
    const events = new MemoryEventStore();
    const key = { name: 'k', scopes: ['read'], hash: 'h', rateLimit: null, expiresAt: null, test: false, owner: false };
    const issued = (keyId: string) => ({
      type: 'KeyIssued',
      data: { ...key, keyId, createdAt: '2026-05-01T10:00:00.000Z' },
    });
    await recordIn(events, 'tenants', [{ type: 'TenantNamed', data: { tenantId: 'studio' } }]);
    await recordIn(events, 'tenant-studio', [issued('a')], { sealed: false });
    const reopened = async (bornSealed: boolean) => {
      const { directory, clock } = await openKeyServer(events, { bornSealed, onCutOff: () => undefined });
      return ['a', 'b', 'c'].filter((keyId) => directory.live(keyId, clock.now()) !== null);
    };
    expect([await reopened(false), await reopened(true)]).toEqual([['a'], []]);
    await recordIn(events, 'tenant-studio', [issued('b')]);
    expect(await reopened(false)).toEqual(['a', 'b']);
    await recordIn(events, 'tenant-studio', [issued('c')], { sealed: false });
    expect(await reopened(false)).toEqual([]);
  });
});

describe('a directory that lost its feed', () => {
  it('reports the loss and resumes the feed where it stopped [11.4e]', async () => {
    const events = new MemoryEventStore();
    const clock = new ManualClock();
    const { principal } = await found(await openKeyServer(events), 'local');
    let cut: (error: Error) => void = () => undefined;
    const starts: (number | undefined)[] = [];
    const breaking = Object.assign(Object.create(events) as EventStore, {
      read: events.read.bind(events),
      lastPosition: events.lastPosition.bind(events),
      subscribe: (options: Subscription) => {
        starts.push(options.after);
        return starts.length === 1 ? brokenFeed(new Promise((_, reject) => (cut = reject))) : events.subscribe(options);
      },
    });
    const lost = vi.fn();
    const other = await openKeyServer(breaking, { clock, onCutOff: lost });
    const one = await openKeyServer(events, { seed: 'one' });
    const { key } = await issueApiKey(one, principal, wish(), command());
    cut(new Error('the store went away'));
    await settle();
    expect(lost).toHaveBeenCalledOnce();
    expect(open(other, key ?? '')).toBeNull();
    expect(FEED_RETRY_MS).toBeLessThan(1_000);
    await clock.advance(FEED_RETRY_MS);
    await settle();
    expect(open(other, key ?? '')).not.toBeNull();
    expect(starts).toEqual([3, 3]);
    await other.directory[Symbol.asyncDispose]();
  });

  it('stops following when it is disposed of, even while it waits to retry', async () => {
    const events = new MemoryEventStore();
    const clock = new ManualClock();
    const lost = vi.fn();
    const server = await openKeyServer(events, { clock, onCutOff: lost });
    await events[Symbol.asyncDispose]();
    await settle();
    expect(lost).toHaveBeenCalled();
    await server.directory[Symbol.asyncDispose]();
    const calls = lost.mock.calls.length;
    await clock.advance(10 * FEED_RETRY_MS);
    expect(lost).toHaveBeenCalledTimes(calls);
  });
});

async function* brokenFeed(end: Promise<never>): AsyncGenerator<readonly RecordedEvent[]> {
  yield await end;
}
