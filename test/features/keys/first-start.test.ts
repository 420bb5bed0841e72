import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { MemoryOwnerKeyFile } from '../../support/memory/owner-key-file.js';
import { firstStart, recoverOwnerKey } from '../../../src/features/keys/first-start.js';
import { StartProblem } from '../../../src/kernel/base/start-problem.js';
import { scopes } from '../../../src/kernel/base/scopes.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { type KeyServer, openKeyServer } from './key-scene.js';

class Killed extends Error {}

/** A file over which the process is killed: `step` never completes. */
class DeadlyFile extends MemoryOwnerKeyFile {
  step: 'prepare' | 'settle' | null = null;

  override async prepare(key: string): Promise<void> {
    if (this.step === 'prepare') throw new Killed();
    return super.prepare(key);
  }

  override async settle(): Promise<void> {
    if (this.step === 'settle') throw new Killed();
    return super.settle();
  }
}

const opens = (server: KeyServer, key: string | null): boolean =>
  server.directory.find(key ?? '', server.clock.now()) !== null;

const positions = async (events: EventStore): Promise<number> => events.lastPosition();

describe('the first start', () => {
  it('makes the tenant local and its owner key with every scope, and writes the key to the file [11.2a, 11.2b]', async () => {
    const server = await openKeyServer();
    const file = new MemoryOwnerKeyFile();
    const made = await firstStart(server, file);
    expect(made).toEqual({ key: file.content, path: file.path });
    expect(server.directory.find(made?.key ?? '', server.clock.now())).toMatchObject({ tenant: 'local', scopes });
    expect(await file.prepared()).toBeNull();
  });

  it('happens once: a later start shows nothing and changes nothing', async () => {
    const events = new MemoryEventStore();
    const file = new MemoryOwnerKeyFile();
    await firstStart(await openKeyServer(events), file);
    const [before, content] = [await positions(events), file.content];
    expect(await firstStart(await openKeyServer(events), file)).toBeNull();
    expect([await positions(events), file.content]).toEqual([before, content]);
  });

  it('is not repeated after the file was removed, and the key stays valid [11.2b]', async () => {
    const events = new MemoryEventStore();
    const made = await firstStart(await openKeyServer(events), new MemoryOwnerKeyFile());
    const empty = new MemoryOwnerKeyFile();
    const server = await openKeyServer(events);
    expect(await firstStart(server, empty)).toBeNull();
    expect(empty.content).toBeNull();
    expect(opens(server, made?.key ?? null)).toBe(true);
  });

  it('does nothing if it is killed before the key is saved', async () => {
    const events = new MemoryEventStore();
    const file = new DeadlyFile();
    file.step = 'prepare';
    await expect(firstStart(await openKeyServer(events), file)).rejects.toThrow(Killed);
    expect(await positions(events)).toBe(0);
  });

  it('shows the same key at the next start if it is killed after the key was recorded', async () => {
    const events = new MemoryEventStore();
    const file = new DeadlyFile();
    file.step = 'settle';
    await expect(firstStart(await openKeyServer(events), file)).rejects.toThrow(Killed);
    const prepared = await file.prepared();
    file.step = null;
    const server = await openKeyServer(events, { seed: 'next' });
    const before = await positions(events);
    expect(await firstStart(server, file)).toEqual({ key: prepared, path: file.path });
    expect(file.content).toBe(prepared);
    expect(opens(server, file.content)).toBe(true);
    expect(await positions(events)).toBe(before);
  });

  it('makes another key at the next start if it is killed between saving and recording', async () => {
    const events = new MemoryEventStore();
    const file = new MemoryOwnerKeyFile();
    await file.prepare('am_live_was_never_recorded');
    const server = await openKeyServer(events);
    const made = await firstStart(server, file);
    expect(made?.key).toBe(file.content);
    expect(opens(server, file.content)).toBe(true);
  });

  it('makes one tenant for two servers at the same time; the second saves no key', async () => {
    const events = new MemoryEventStore();
    const [one, other] = [await openKeyServer(events), await openKeyServer(events, { seed: 'other' })];
    const [first, second] = [new MemoryOwnerKeyFile(), new MemoryOwnerKeyFile()];
    const made = await Promise.all([firstStart(one, first), firstStart(other, second)]);
    expect(made.filter((key) => key !== null)).toHaveLength(1);
    const [winner, loser] = made[0] === null ? [second, first] : [first, second];
    expect(opens(await openKeyServer(events), winner.content)).toBe(true);
    expect([loser.content, await loser.prepared()]).toEqual([null, null]);
  });
});

describe('recovering the owner key', () => {
  it('adds a key with every scope, replaces the file, and keeps the earlier keys', async () => {
    const server = await openKeyServer();
    const file = new MemoryOwnerKeyFile();
    const lost = await firstStart(server, file);
    const recovered = await recoverOwnerKey(server, file, 'local');
    expect(recovered).toEqual({ key: file.content, path: file.path });
    expect(recovered.key).not.toBe(lost?.key);
    expect(server.directory.find(recovered.key, server.clock.now())).toMatchObject({ tenant: 'local', scopes });
    expect(opens(server, lost?.key ?? null)).toBe(true);
  });

  it('is refused for an unknown tenant, and changes nothing', async () => {
    const server = await openKeyServer();
    const file = new MemoryOwnerKeyFile();
    await expect(recoverOwnerKey(server, file, 'local')).rejects.toThrow(StartProblem);
    expect([await positions(server.events), file.content, await file.prepared()]).toEqual([0, null, null]);
  });

  it('leaves the earlier file if it is killed before the end, and is finished by the next start', async () => {
    const events = new MemoryEventStore();
    const file = new DeadlyFile();
    const first = await firstStart(await openKeyServer(events), file);
    file.step = 'settle';
    await expect(recoverOwnerKey(await openKeyServer(events, { seed: 'r' }), file, 'local')).rejects.toThrow(Killed);
    expect(file.content).toBe(first?.key);
    file.step = null;
    const server = await openKeyServer(events);
    const shown = await firstStart(server, file);
    expect(shown?.key).not.toBe(first?.key);
    expect(opens(server, file.content)).toBe(true);
  });
});
