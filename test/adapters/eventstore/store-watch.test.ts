import { Readable } from 'node:stream';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { readEach } from '../../../src/adapters/eventstore/read-each.js';
import { READ_SILENCE_MS, type StoreConnection } from '../../../src/adapters/eventstore/store-connection.js';
import { storeIsThere, storePresence } from '../../../src/adapters/eventstore/store-watch.js';

/** A store whose reads are answered by the test. */
const asked = () => {
  const reads: Readable[] = [];
  const client = {
    readAll: () => {
      const read = Object.assign(new Readable({ objectMode: true, read: () => undefined }), {
        cancel: () => Promise.resolve(),
      });
      reads.push(read);
      return read;
    },
  };
  const left = vi.fn(() => Promise.resolve());
  let node = new AbortController();
  const connection = {
    client,
    get node() {
      return node.signal;
    },
    leaveSilentNode: left,
  };
  const presence = storePresence(connection as unknown as StoreConnection);
  const leave = (): void => {
    const before = node;
    node = new AbortController();
    before.abort();
  };
  return { presence, reads, left, leave, connection: connection as unknown as StoreConnection };
};
const unavailable = { code: 'STORE_UNAVAILABLE' };

describe('The watch over the store', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('sends no probes while the store answers', async () => {
    const { presence, reads } = asked();
    await storeIsThere(presence);
    expect([presence.isAway, reads.length]).toEqual([false, 0]);
  });

  it('leaves a node that fell silent', () => {
    const { presence, left } = asked();
    expect(left).not.toHaveBeenCalled();
    presence.fellSilent();
    expect(left).toHaveBeenCalledOnce();
  });

  it('sends a silent store one probe for all waiting calls, and refuses them if it is not answered', async () => {
    const { presence, reads } = asked();
    presence.fellSilent();
    const waiting = Promise.allSettled(Array.from({ length: 100 }, () => storeIsThere(presence)));
    await vi.advanceTimersByTimeAsync(499);
    expect(reads).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    for (const outcome of await waiting) expect(outcome).toMatchObject({ status: 'rejected', reason: unavailable });
    expect([presence.isAway, reads.length]).toEqual([true, 1]);
  });

  it('releases the waiting calls when the store answers, and stops probing', async () => {
    const { presence, reads } = asked();
    presence.fellSilent();
    const waiting = Promise.all([storeIsThere(presence), storeIsThere(presence)]);
    await vi.advanceTimersByTimeAsync(100);
    reads[0]?.push({});
    await waiting;
    await storeIsThere(presence);
    expect([presence.isAway, reads.length]).toEqual([false, 1]);
  });

  it('probes again for calls after an unanswered probe', async () => {
    const { presence, reads } = asked();
    presence.fellSilent();
    const first = expect(storeIsThere(presence)).rejects.toMatchObject(unavailable);
    await vi.advanceTimersByTimeAsync(1_501);
    await first;
    const second = storeIsThere(presence);
    reads[1]?.push(null);
    await second;
    expect(presence.isAway).toBe(false);
  });

  it('gives the probe as much time as any read, so that a slow store recovers', async () => {
    const { presence, reads } = asked();
    presence.fellSilent();
    const early = expect(storeIsThere(presence)).rejects.toMatchObject(unavailable);
    await vi.advanceTimersByTimeAsync(600);
    await early;
    reads[0]?.push({});
    await vi.advanceTimersByTimeAsync(1);
    await storeIsThere(presence);
    expect([presence.isAway, reads.length]).toEqual([false, 1]);
  });

  it('probes another node when the probed one is left, and blames neither', async () => {
    const { presence, reads, left, leave } = asked();
    const probing = presence.probe();
    leave();
    await vi.waitFor(() => expect(reads).toHaveLength(2));
    reads[1]?.push(null);
    await probing;
    await vi.advanceTimersByTimeAsync(READ_SILENCE_MS + 1);
    expect([presence.isAway, reads.length, left.mock.calls.length]).toEqual([false, 2, 0]);
  });

  it('lets a read finish on a node that is being left, and delivers nothing twice', async () => {
    const { presence, reads, connection, leave } = asked();
    const taken: unknown[] = [];
    const open = () => connection.client.readAll({ maxCount: 3 });
    const take = (event: unknown): boolean => {
      taken.push(event);
      return false;
    };
    const reading = readEach(open, take, { presence, connection });
    reads[0]?.push({ n: 1 });
    await vi.waitFor(() => expect(taken).toHaveLength(1));
    leave();
    reads[0]?.push({ n: 2 });
    reads[0]?.push(null);
    expect([await reading, taken, reads.length]).toEqual([false, [{ n: 1 }, { n: 2 }], 1]);
  });

  it('blames no node for a read that falls silent on a node that was left', async () => {
    const { presence, reads, connection, leave, left } = asked();
    const taken: unknown[] = [];
    const open = () => connection.client.readAll({ maxCount: 3 });
    const take = (event: unknown): boolean => {
      taken.push(event);
      return false;
    };
    const refused = expect(readEach(open, take, { presence, connection })).rejects.toMatchObject(unavailable);
    reads[0]?.push({ n: 1 });
    await vi.waitFor(() => expect(taken).toHaveLength(1));
    leave();
    await vi.advanceTimersByTimeAsync(READ_SILENCE_MS + 1);
    await refused;
    expect([presence.isAway, reads.length, left.mock.calls.length]).toEqual([false, 1, 0]);
  });

  it('treats any answered read as a sign of life', async () => {
    const { presence, reads } = asked();
    presence.fellSilent();
    presence.answered();
    await storeIsThere(presence);
    expect(reads).toHaveLength(0);
  });
});
