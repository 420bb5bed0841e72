import { describe, expect, it } from 'vitest';

import { KeyedMutex } from '../../../src/kernel/concurrency/keyed-mutex.js';
import { gate } from '../../support/gate.js';

describe('A keyed mutex', () => {
  it('runs calls for one key one at a time, in order, also after one that fails', async () => {
    const mutex = new KeyedMutex();
    const first = gate();
    const said: string[] = [];
    const failing = mutex.runExclusive('a', async () => {
      said.push('first begins');
      await first.opened;
      said.push('first ends');
      throw new Error('no');
    });
    const second = mutex.runExclusive('a', async () => said.push('second'));
    expect(said).toEqual(['first begins']);
    first.open();
    await expect(failing).rejects.toThrow('no');
    await second;
    expect(said).toEqual(['first begins', 'first ends', 'second']);
  });

  it('queues a nested call for the same key behind the running one, and later calls behind that', async () => {
    const mutex = new KeyedMutex();
    const said: string[] = [];
    let inner: Promise<unknown> = Promise.resolve();
    const outer = mutex.runExclusive('a', async () => {
      inner = mutex.runExclusive('a', async () => said.push('inner'));
      await Promise.resolve();
      said.push('outer');
    });
    const third = mutex.runExclusive('a', async () => said.push('third'));
    await Promise.all([outer, inner, third]);
    expect(said).toEqual(['outer', 'inner', 'third']);
  });

  it('does not delay calls for another key', async () => {
    const mutex = new KeyedMutex();
    const held = gate();
    const waiting = mutex.runExclusive('a', () => held.opened);
    expect(await mutex.runExclusive('b', async () => 'done')).toBe('done');
    held.open();
    await waiting;
  });

  it('is unlocked once no call for the key runs or waits, also after one that throws immediately', async () => {
    const mutex = new KeyedMutex();
    const held = gate();
    const waiting = mutex.runExclusive('a', () => held.opened);
    expect([mutex.isLocked('a'), mutex.isLocked('b')]).toEqual([true, false]);
    held.open();
    await waiting;
    const throwing = mutex.runExclusive('b', () => {
      throw new Error('no');
    });
    await expect(throwing).rejects.toThrow('no');
    expect([mutex.isLocked('a'), mutex.isLocked('b')]).toEqual([false, false]);
  });

  it('refuses a call over the limit of its key', async () => {
    const mutex = new KeyedMutex(2);
    const held = gate();
    const calls = [1, 2].map(() => mutex.runExclusive('a', () => held.opened));
    await expect(mutex.runExclusive('a', () => held.opened)).rejects.toMatchObject({ code: 'BUSY', retryAfter: 1 });
    await mutex.runExclusive('b', () => Promise.resolve());
    held.open();
    await Promise.all(calls);
    await mutex.runExclusive('a', () => Promise.resolve());
  });
});
