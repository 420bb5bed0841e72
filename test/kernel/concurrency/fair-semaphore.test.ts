import { describe, expect, it } from 'vitest';

import { FairSemaphore } from '../../../src/kernel/concurrency/fair-semaphore.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';

const never = new AbortController().signal;

/** Two permits, and work that lasts until the test ends it. */
const scene = () => {
  const clock = new ManualClock();
  const semaphore = new FairSemaphore({
    limit: { clock, waitMs: 1_000 },
    ...{ permits: 2, queueLimit: 6, tenantQueueLimit: 4 },
  });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string, signal = never): Promise<string> =>
    semaphore.run({ tenant: name[0] ?? '', signal }, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    });
  const finish = (name: string): void => ends.get(name)?.();
  const end = async (name: string): Promise<void> => {
    finish(name);
    await settle(4);
  };
  return { clock, semaphore, begun, work, finish, end };
};

describe('a fair semaphore', () => {
  it('limits its permits, and gives them to the tenant with the fewest, then to the longest waiting caller [9.8v]', async () => {
    const { begun, work, end } = scene();
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].map((name) => work(name));
    await settle(4);
    expect(begun).toEqual(['a1', 'a2']);
    for (const name of ['a1', 'a2', 'b1', 'a3', 'a4', 'b2']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2']);
  });

  it('limits the queue of each tenant and of all tenants, and refuses further callers immediately [9.8v]', async () => {
    const { clock, begun, work, end } = scene();
    const busy = { code: 'BUSY', retryAfter: 1 };
    const late: unknown[] = [];
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3'])
      void work(name).catch((error: unknown) => late.push(error));
    await expect(work('b4')).rejects.toMatchObject(busy);
    await end('a1');
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    // One has room again, and the first tenant’s own queue is full with it.
    void work('a6').catch((error: unknown) => late.push(error));
    await settle(4);
    await expect(work('a7')).rejects.toMatchObject(busy);
    await end('a2');
    expect(begun.at(-1)).toBe('a3');
    await clock.advance(1_000);
    expect(late).toEqual(Array.from({ length: 5 }, () => expect.objectContaining(busy) as unknown));
    for (const name of ['b1', 'a3']) await end(name);
    for (const name of ['d1', 'd2']) void work(name);
    await settle(4);
    expect(begun.slice(-2)).toEqual(['d1', 'd2']);
  });

  it('drops a caller of the tenant with the longest queue for one of a tenant with a shorter queue', async () => {
    const { begun, work, end } = scene();
    const refused: string[] = [];
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'c1', 'c2', 'd1', 'b3'])
      void work(name).catch(() => refused.push(name));
    await settle(4);
    // The last callers of the longest queue are dropped; a queue with only one caller more than the newcomer's keeps its callers.
    expect(refused.sort()).toEqual(['a4', 'a5', 'a6', 'b3']);
    for (const name of ['a1', 'a2', 'b1', 'c1']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'd1', 'a3']);
  });

  it('does not compensate a tenant that was served late because it held more', async () => {
    const { begun, work, end } = scene();
    // `a` holds one for long and waits for more, while `b` gets many turns.
    for (const name of ['a1', 'b1', 'a2', 'a3', 'a4']) void work(name);
    for (let n = 2; n < 12; n += 1) {
      void work(`b${n}`);
      await settle(4);
      await end(`b${n - 1}`);
    }
    for (const name of ['c1', 'c2', 'b12']) void work(name);
    await settle(4);
    for (const name of ['a1', 'b11', 'a2', 'c1', 'a3']) await end(name);
    expect(begun.slice(-5)).toEqual(['a2', 'c1', 'a3', 'c2', 'b12']);
  });

  it('serves the tenants round robin if each holds as many, however many callers one of them has', async () => {
    const { begun, work, end } = scene();
    for (const name of ['a1', 'x1', 'a2', 'a3', 'a4', 'b1', 'c1']) void work(name);
    await settle(4);
    await end('x1');
    // The first of `a` still holds one, so the others come first.
    expect(begun).toEqual(['a1', 'x1', 'b1']);
    void work('b2');
    await end('b1');
    expect(begun.at(-1)).toBe('c1');
    await end('a1');
    await end('c1');
    expect(begun.slice(-2)).toEqual(['a2', 'b2']);
    void work('d1');
    await end('a2');
    expect(begun.at(-1)).toBe('d1');
  });

  it('releases a permit when the work fails', async () => {
    const { semaphore, begun, work } = scene();
    const failing = (): Promise<never> => Promise.reject(new Error('no'));
    for (let time = 0; time < 3; time += 1) await expect(semaphore.run({ tenant: 'a' }, failing)).rejects.toThrow('no');
    void work('b1');
    await settle(4);
    expect(begun).toEqual(['b1']);
  });

  it('gives no permit to a caller that has left, or has waited too long', async () => {
    const { clock, begun, work, end } = scene();
    const gone = new AbortController();
    void work('a1');
    void work('a2');
    const leaves = work('b1', gone.signal);
    const waits = work('c1');
    await settle(4);
    const left = expect(leaves).rejects.toThrow('gone');
    gone.abort(new Error('gone'));
    await left;
    const late = expect(waits).rejects.toMatchObject({ code: 'BUSY', retryAfter: 1 });
    await clock.advance(1_000);
    await late;
    void work('d1');
    await end('a1');
    expect(begun).toEqual(['a1', 'a2', 'd1']);
    await expect(work('e1', gone.signal)).rejects.toThrow('gone');
  });

  it.each(Array.from({ length: 12 }, (_, turns) => turns))(
    'gets the permit back from a caller that leaves just when it is admitted (%i microtasks later)',
    async (turns) => {
      const { begun, work, end, finish } = scene();
      const gone = new AbortController();
      void work('a1');
      void work('a2');
      await settle(4);
      const leaves = work('b1', gone.signal).catch((error: unknown) => error);
      finish('a1');
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      gone.abort(new Error('gone'));
      await settle(4);
      if (begun.includes('b1')) await end('b1');
      await leaves;
      void work('c1');
      await settle(4);
      expect(begun).toContain('c1');
    },
  );
});
