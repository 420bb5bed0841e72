import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { IdempotencyStore, AnswerRetention, StoredAnswer } from '../../src/ports/idempotency-store.js';
import { keyed } from '../support/keyed.js';

export type OpenedIdempotencyStore = {
  readonly store: IdempotencyStore;
  /** What a new process finds after this one died. */
  readonly afterDeath: () => Promise<IdempotencyStore>;
  /** Lets time pass, in milliseconds. */
  readonly later: (ms: number) => Promise<unknown>;
  readonly dispose: () => Promise<void>;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const answer: StoredAnswer = {
  status: 201,
  headers: { 'anima-revision': '3', location: '/x' },
  body: { text: 'é 漢字 😀 \0', list: [1, null, { a: true }] },
};
const run = (seed: string, resumed = false, done = false) => ({ kind: 'run', seed, resumed, done });

/** The promises of every store of idempotency keys, whatever it is built on. */
export const idempotencyStoreContract = (
  name: string,
  open: (budget?: number) => Promise<OpenedIdempotencyStore>,
): void => {
  describe(`${name} as a store of idempotency keys`, () => {
    let opened: OpenedIdempotencyStore;
    let store: IdempotencyStore;

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });

    afterEach(() => opened.dispose());

    const reserve = (seed: string, { scope = 'scope', key = 'key', digest = 'digest' } = {}) =>
      store.reserve(keyed(scope, key, digest), seed);

    it('lets the first request run with its own seed', async () => {
      expect(await reserve('one')).toEqual(run('one'));
    });

    it('reports to a repeat that the first one is still running', async () => {
      await reserve('one');
      expect(await reserve('two')).toEqual({ kind: 'running' });
    });

    it('lets no repeat run in parallel with the first one, whatever the clock shows', async () => {
      await reserve('one');
      await opened.later(25 * HOUR_MS);
      await reserve('other', { key: 'another key' });
      expect(await reserve('two')).toEqual({ kind: 'running' });
    });

    it('keeps a request that ends after its day for another day, whether it is answered or released [1.7f]', async () => {
      await reserve('one');
      await reserve('failing', { key: 'failing' });
      await opened.later(25 * HOUR_MS);
      await store.complete(keyed('scope', 'key'), answer, 'within-budget');
      await store.release(keyed('scope', 'failing'));
      await opened.later(23 * HOUR_MS);
      expect(await reserve('two')).toEqual({ kind: 'answered', answer });
      expect(await reserve('two', { key: 'failing' })).toEqual(run('failing', true));
      await opened.later(HOUR_MS + MINUTE_MS);
      expect(await reserve('three')).toEqual(run('three'));
    });

    it('returns the first response to every repeat', async () => {
      await reserve('one');
      await store.complete(keyed('scope', 'key'), answer, 'within-budget');
      expect(await reserve('two')).toEqual({ kind: 'answered', answer });
      expect(await reserve('three')).toEqual({ kind: 'answered', answer });
    });

    it('returns the stored response for the same request, without reserving anything', async () => {
      const kept = (digest = 'digest') => store.storedAnswer(keyed('scope', 'key', digest));
      expect(await kept()).toBeNull();
      await reserve('one');
      expect(await kept()).toBeNull();
      await store.complete(keyed('scope', 'key'), answer, 'within-budget');
      expect([await kept(), await kept('other')]).toEqual([answer, null]);
      expect(await store.storedAnswer(keyed('scope', 'another'))).toBeNull();
      expect(await reserve('two', { key: 'another' })).toEqual(run('two'));
      await opened.later(24 * HOUR_MS + MINUTE_MS);
      expect(await kept()).toBeNull();
    });

    it('reports to another request that the key is used, whether the first one runs or is answered', async () => {
      await reserve('one');
      expect(await reserve('two', { digest: 'other' })).toEqual({ kind: 'reused' });
      await store.complete(keyed('scope', 'key'), answer, 'within-budget');
      expect(await reserve('three', { digest: 'other' })).toEqual({ kind: 'reused' });
    });

    it('keeps scopes and keys apart, however they are split', async () => {
      await reserve('one', { scope: 'a b', key: 'c' });
      expect(await reserve('two', { scope: 'a', key: 'b c' })).toEqual(run('two'));
      expect(await reserve('three', { scope: 'a b', key: 'd' })).toEqual(run('three'));
      expect(await reserve('four', { scope: '["a","b', key: 'c"]' })).toEqual(run('four'));
    });

    it('lets exactly one of several concurrent requests run', async () => {
      const taken = await Promise.all(['one', 'two', 'three'].map((seed) => reserve(seed)));
      expect(taken).toEqual([run('one'), { kind: 'running' }, { kind: 'running' }]);
    });

    describe('a released key', () => {
      it('is free for another request', async () => {
        await reserve('one');
        await store.release(keyed('scope', 'key'));
        expect(await reserve('two', { digest: 'other' })).toEqual(run('two'));
        expect(await reserve('three')).toEqual({ kind: 'reused' });
      });

      it('lets the same request run again with the same seed, because a failed one may have had effects', async () => {
        await reserve('one');
        await store.release(keyed('scope', 'key'));
        expect(await reserve('two')).toEqual(run('one', true));
        expect(await reserve('three')).toEqual({ kind: 'running' });
        await store.complete(keyed('scope', 'key'), answer, 'within-budget');
        expect(await reserve('four')).toEqual({ kind: 'answered', answer });
      });
    });

    describe('a request whose response is not stored', () => {
      beforeEach(async () => {
        await reserve('one');
        await store.complete(keyed('scope', 'key'), answer, 'never');
      });

      it('runs again with the same seed, one at a time, any number of times', async () => {
        expect(await store.storedAnswer(keyed('scope', 'key'))).toBeNull();
        expect(await reserve('two')).toEqual(run('one', true, true));
        expect(await reserve('three')).toEqual({ kind: 'running' });
        await store.complete(keyed('scope', 'key'), answer, 'never');
        expect(await reserve('four')).toEqual(run('one', true, true));
        await store.complete(keyed('scope', 'key'), answer, 'within-budget');
        expect(await reserve('five')).toEqual({ kind: 'answered', answer });
      });

      it('keeps its key from other requests, also after a repeat was refused or died', async () => {
        expect(await reserve('two', { digest: 'other' })).toEqual({ kind: 'reused' });
        await reserve('two');
        await store.release(keyed('scope', 'key'));
        expect(await reserve('three', { digest: 'other' })).toEqual({ kind: 'reused' });
        expect(await reserve('three')).toEqual(run('one', true, true));
        store = await opened.afterDeath();
        expect(await reserve('four', { digest: 'other' })).toEqual({ kind: 'reused' });
        expect(await reserve('four')).toEqual(run('one', true, true));
      });

      it('releases its key after 24 hours', async () => {
        await opened.later(24 * HOUR_MS + MINUTE_MS);
        expect(await reserve('two', { digest: 'other' })).toEqual(run('two'));
        await store.release(keyed('scope', 'key', 'other'));
        expect(await reserve('three', { digest: 'third' })).toEqual(run('three'));
      });
    });

    it('ignores the completion or release of keys that are not reserved', async () => {
      await store.complete(keyed('scope', 'key'), answer, 'within-budget');
      await store.release(keyed('scope', 'other'));
      expect(await reserve('one')).toEqual(run('one'));
    });

    describe('after the process died', () => {
      it('lets a repeat of a running request resume it with its seed, once [1.7g]', async () => {
        await reserve('one');
        store = await opened.afterDeath();
        expect(await reserve('two')).toEqual(run('one', true));
        expect(await reserve('three')).toEqual({ kind: 'running' });
        store = await opened.afterDeath();
        expect(await reserve('four')).toEqual(run('one', true));
      });

      it('lets a repeat of a running request resume it within a day after its day, whether the clock jumps before or after [1.7f]', async () => {
        for (const leaps of ['before', 'after', 'before both', 'after both']) {
          const twice = leaps.endsWith('both');
          await reserve('one', { key: leaps });
          if (leaps.startsWith('before')) await opened.later(25 * HOUR_MS);
          store = await opened.afterDeath();
          if (twice) await reserve('other', { key: `beside ${leaps}` });
          if (leaps.startsWith('after')) await opened.later(25 * HOUR_MS);
          expect(await reserve('two', { key: leaps })).toEqual(run('one', true));
        }
      });

      it('refuses another request with the key of a running one', async () => {
        await reserve('one');
        store = await opened.afterDeath();
        expect(await reserve('two', { digest: 'other' })).toEqual({ kind: 'reused' });
      });

      it('returns the earlier response to a repeat', async () => {
        await reserve('one');
        await store.complete(keyed('scope', 'key'), answer, 'within-budget');
        store = await opened.afterDeath();
        expect(await reserve('two')).toEqual({ kind: 'answered', answer });
      });
    });

    it('keeps a key for a repeat that is still running when the key expires', async () => {
      await reserve('one');
      await store.complete(keyed('scope', 'key'), answer, 'never');
      expect(await reserve('two')).toEqual({ ...run('one', true), done: true });
      await opened.later(25 * HOUR_MS);
      // Stores that sweep keys as others arrive sweep the expired ones now.
      await reserve('beside', { key: 'beside' });
      expect(await reserve('three')).toEqual({ kind: 'running' });
      expect(await reserve('four', { digest: 'other' })).toEqual({ kind: 'reused' });
      await store.complete(keyed('scope', 'key'), answer, 'within-budget');
      expect(await reserve('five')).toEqual({ kind: 'answered', answer });
    });

    it('remembers a key for 24 hours from its first request, and no longer [1.7f]', async () => {
      await reserve('one');
      await opened.later(HOUR_MS);
      await store.complete(keyed('scope', 'key'), answer, 'within-budget');
      await opened.later(23 * HOUR_MS - MINUTE_MS);
      expect(await reserve('two')).toEqual({ kind: 'answered', answer });
      await opened.later(MINUTE_MS);
      expect(await reserve('three', { digest: 'other' })).toEqual(run('three'));
    });

    it('removes old keys while new ones arrive, and no others', async () => {
      for (let n = 0; n < 50; n += 1) {
        await reserve(`old-${n}`, { key: `old-${n}` });
        await store.release(keyed('scope', `old-${n}`));
      }
      await opened.later(23 * HOUR_MS);
      await reserve('young', { key: 'young' });
      await opened.later(HOUR_MS);
      for (let n = 0; n < 50; n += 1) await reserve(`new-${n}`, { key: `new-${n}` });
      store = await opened.afterDeath();
      expect(await reserve('again', { key: 'young' })).toEqual(run('young', true));
      expect(await reserve('again', { key: 'old-0' })).toEqual(run('again'));
    });
  });
};

type Sizing = { readonly bytes?: number; readonly tenant?: string; readonly keeping?: AnswerRetention };

/** The promises of a store of idempotency keys that keeps responses within a budget of bytes per tenant. */
export const answerBudgetContract = (name: string, open: (budget: number) => Promise<OpenedIdempotencyStore>): void => {
  describe(`${name} as a store of responses within a budget`, () => {
    const BUDGET = 10_000;
    const sized = (bytes: number): StoredAnswer => ({ status: 200, headers: {}, body: 'x'.repeat(bytes - 40) });
    let opened: OpenedIdempotencyStore;

    beforeEach(async () => {
      opened = await open(BUDGET);
    });

    afterEach(() => opened.dispose());

    const request = (n: number, tenant = 'tenant') => ({ ...keyed('scope', `${tenant} ${n}`), tenant });
    const done = async (n: number, { bytes = 1_000, tenant = 'tenant', keeping = 'within-budget' }: Sizing = {}) => {
      await opened.store.reserve(request(n, tenant), `seed ${n}`);
      await opened.store.complete(request(n, tenant), sized(bytes), keeping);
      // Each is younger than the one before.
      await opened.later(1);
    };
    const keptOf = async (tenant = 'tenant', from = 0, to = 20): Promise<readonly number[]> => {
      const numbers = Array.from({ length: to - from }, (_, n) => from + n);
      const found = await Promise.all(numbers.map((n) => opened.store.storedAnswer(request(n, tenant))));
      return numbers.filter((_, at) => found[at] !== null);
    };
    /** Some stores evict responses a moment later. */
    const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 50 });

    it('evicts the oldest responses of the tenant that exceeds it, and no reservation [1.7m, 1.7n]', async () => {
      await done(0, { tenant: 'other' });
      for (let n = 0; n < 13; n += 1) await done(n);
      await eventually(async () => expect(await keptOf()).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]));
      expect(await keptOf('other')).toEqual([0]);
      expect(await opened.store.reserve({ ...request(0), digest: 'another' }, 'new')).toEqual({ kind: 'reused' });
      expect(await opened.store.reserve(request(0), 'new')).toEqual(run('seed 0', true, true));
      expect(await opened.store.reserve(request(12), 'new')).toEqual({ kind: 'answered', answer: sized(1_000) });
    });

    it('stores no response that is larger than the budget [1.7m]', async () => {
      await done(0);
      await done(1, { bytes: BUDGET + 1_000 });
      await eventually(async () => expect(await keptOf()).not.toContain(1));
      expect(await opened.store.reserve(request(1), 'new')).toEqual(run('seed 1', true, true));
    });

    it('always keeps pinned responses, and does not count them [1.7o]', async () => {
      await done(0, { keeping: 'always', bytes: BUDGET + 1_000 });
      for (let n = 1; n < 13; n += 1) await done(n);
      await eventually(async () => expect(await keptOf()).toEqual([0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]));
    });

    it('restores the size of the responses after a restart, without expired and repeated ones', async () => {
      for (let n = 0; n < 8; n += 1) await done(n);
      opened = { ...opened, store: await opened.afterDeath() };
      for (let n = 8; n < 13; n += 1) await done(n);
      await eventually(async () => expect(await keptOf()).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]));
      await opened.later(24 * HOUR_MS + MINUTE_MS);
      for (let n = 13; n < 20; n += 1) await done(n);
      for (let n = 0; n < 3; n += 1) await done(n);
      await eventually(async () => expect(await keptOf()).toEqual([0, 1, 2, 13, 14, 15, 16, 17, 18, 19]));
    });
  });
};
