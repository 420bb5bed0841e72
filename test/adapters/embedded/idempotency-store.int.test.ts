import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { Database } from '../../../src/adapters/embedded/database.js';
import { EmbeddedIdempotencyStore } from '../../../src/adapters/embedded/idempotency-store.js';
import { answerBudgetContract, idempotencyStoreContract } from '../../contracts/idempotency-store.js';
import type { StoredAnswer } from '../../../src/ports/idempotency-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { keyed } from '../../support/keyed.js';

/** A copy of the files on disk while they are in use: what a killed process leaves behind. */
const copyOf = async (file: string, to: string): Promise<string> => {
  for (const part of ['', '-wal']) await copyFile(`${file}${part}`, `${to}${part}`);
  return to;
};

const openContract = async (budget?: number) => {
  const clock = new ManualClock();
  const directory = await temporaryDirectory();
  const stores: EmbeddedIdempotencyStore[] = [];
  let file = join(directory.path, 'idempotency-0.db');
  const open = (path: string): EmbeddedIdempotencyStore => {
    const store = EmbeddedIdempotencyStore.open(path, clock, budget);
    stores.push(store);
    return store;
  };
  return {
    store: open(file),
    afterDeath: async () => {
      file = await copyOf(file, join(directory.path, `idempotency-${stores.length}.db`));
      return open(file);
    },
    later: (ms: number) => clock.advance(ms),
    dispose: async () => {
      for (const store of stores) await store[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
};

idempotencyStoreContract('The embedded adapter', openContract);
answerBudgetContract('The embedded adapter', openContract);

describe('The file of idempotency keys', () => {
  const answer = { status: 200, headers: {}, body: null };

  it('evicts what exceeds a lowered budget, and then stores new responses', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'idempotency.db');
    const clock = new ManualClock();
    const large = { ...answer, body: 'x'.repeat(1_000) };
    const keep = async (store: EmbeddedIdempotencyStore, names: readonly string[]): Promise<void> => {
      for (const name of names) {
        await store.reserve(keyed('scope', name), name);
        await store.complete(keyed('scope', name), large, 'within-budget');
        await clock.advance(1);
      }
    };
    const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix} ${n}`);
    const [old, young] = [namesOf('old', 1_000), namesOf('young', 20)];
    {
      await using store = EmbeddedIdempotencyStore.open(file, clock, 2_000_000);
      await keep(store, old);
    }
    await using store = EmbeddedIdempotencyStore.open(file, clock, 10_000);
    await keep(store, young);
    const isKept = async (name: string) => (await store.storedAnswer(keyed('scope', name))) !== null;
    expect(await Promise.all(young.slice(-8).map(isKept))).not.toContain(false);
    expect(await Promise.all(old.map(isKept))).not.toContain(true);
  });

  it('does not store a response that would evict more than 256 others [1.7m]', async () => {
    await using directory = await temporaryDirectory();
    const clock = new ManualClock();
    const sized = (bytes: number): StoredAnswer => {
      const empty = { ...answer, body: '' };
      return { ...empty, body: 'x'.repeat(bytes - Buffer.byteLength(JSON.stringify(empty))) };
    };
    const file = join(directory.path, 'idempotency.db');
    await using store = EmbeddedIdempotencyStore.open(file, clock, 300 * 200);
    const keep = async (name: string, bytes: number): Promise<boolean> => {
      await store.reserve(keyed('scope', name), name);
      await store.complete(keyed('scope', name), sized(bytes), 'within-budget');
      await clock.advance(1);
      return (await store.storedAnswer(keyed('scope', name))) !== null;
    };
    for (let n = 0; n < 300; n += 1) await keep(`small ${n}`, 200);
    expect(await keep('too large', 257 * 200)).toBe(false);
    expect(await store.storedAnswer(keyed('scope', 'small 0'))).not.toBeNull();
    expect(await keep('large', 256 * 200)).toBe(true);
    const left = ['small 255', 'small 256'].map((name) => store.storedAnswer(keyed('scope', name)));
    expect((await Promise.all(left)).map((kept) => kept !== null)).toEqual([false, true]);
  });

  it('forgets the key of a request whose process died after 48 hours [1.7f]', async () => {
    const HOUR_MS = 3_600_000;
    await using directory = await temporaryDirectory();
    const [clock, file] = [new ManualClock(), join(directory.path, 'idempotency.db')];
    await using dying = EmbeddedIdempotencyStore.open(file, clock);
    await dying.reserve(keyed('scope', 'key'), 'first');
    await using store = EmbeddedIdempotencyStore.open(await copyOf(file, join(directory.path, 'copy.db')), clock);
    await clock.advance(48 * HOUR_MS);
    await store.reserve(keyed('scope', 'beside'), 'beside');
    expect(await store.reserve(keyed('scope', 'key'), 'second')).toEqual({
      ...{ kind: 'run', seed: 'second', resumed: false, done: false },
    });
  });

  it('writes everything from one turn of the event loop in one commit', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'idempotency.db');
    await using store = EmbeddedIdempotencyStore.open(file, new ManualClock());
    using watching = Database.open(file, { synchronous: 'FULL' });
    const count = watching.prepare('SELECT count(*) AS n FROM reservations');
    const all = Array.from({ length: 40 }, (_, n) => store.reserve(keyed('scope', `key-${n}`), `seed-${n}`));
    const seen = all.map((reserved) => reserved.then(() => count.get()));
    expect(new Set((await Promise.all(seen)).map((row) => (row as { n: number }).n))).toEqual(new Set([40]));
  });

  it('writes pending entries before it closes, and accepts nothing afterwards', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'idempotency.db');
    const clock = new ManualClock();
    const store = EmbeddedIdempotencyStore.open(file, clock);
    const reserved = store.reserve(keyed('scope', 'key'), 'seed');
    await store[Symbol.asyncDispose]();
    expect(await reserved).toEqual({ kind: 'run', seed: 'seed', resumed: false, done: false });
    await expect(store.reserve(keyed('scope', 'other'), 'seed')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    await using reopened = EmbeddedIdempotencyStore.open(file, clock);
    expect(await reopened.reserve(keyed('scope', 'key'), 'new')).toEqual({
      kind: 'run',
      seed: 'seed',
      resumed: true,
      done: false,
    });
  });

  it('reserves nothing while the file is not writable, and recovers once it is', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'idempotency.db');
    await using store = EmbeddedIdempotencyStore.open(file, new ManualClock());
    await store.reserve(keyed('scope', 'running'), 'seed');
    using locking = Database.open(file, { synchronous: 'FULL' });
    locking.exec('BEGIN IMMEDIATE');
    const refused = { code: 'STORE_UNAVAILABLE' };
    await Promise.all([
      expect(store.reserve(keyed('scope', 'key'), 'one')).rejects.toMatchObject(refused),
      expect(store.complete(keyed('scope', 'running'), answer, 'within-budget')).rejects.toMatchObject(refused),
    ]);
    locking.exec('ROLLBACK');
    expect(await store.reserve(keyed('scope', 'key'), 'two')).toEqual({
      kind: 'run',
      seed: 'two',
      resumed: false,
      done: false,
    });
    // Its response is lost, so a repeat runs it again with the same seed.
    expect(await store.reserve(keyed('scope', 'running'), 'new')).toEqual({
      kind: 'run',
      seed: 'seed',
      resumed: true,
      done: false,
    });
  });

  it('keeps at most one day of keys on disk', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'idempotency.db');
    const clock = new ManualClock();
    await using store = EmbeddedIdempotencyStore.open(file, clock);
    for (let n = 0; n < 100; n += 1) {
      await store.reserve(keyed('scope', `old-${n}`), 'seed');
      await store.release(keyed('scope', `old-${n}`));
    }
    await clock.advance(24 * 3_600_000);
    for (let n = 0; n < 20; n += 1) await store.reserve(keyed('scope', `new-${n}`), 'seed');
    using watching = Database.open(file, { synchronous: 'FULL' });
    expect(watching.prepare('SELECT count(*) AS n FROM reservations').get()).toEqual({ n: 20 });
  });
});
