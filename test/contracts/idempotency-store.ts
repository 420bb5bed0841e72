import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { IdempotencyStore, KeptAnswer } from '../../src/ports/idempotency-store.js';

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
const answer: KeptAnswer = {
  status: 201,
  headers: { 'anima-revision': '3', location: '/x' },
  body: { text: 'é 漢字 😀 \0', list: [1, null, { a: true }] },
};
const run = (seed: string, resumed = false) => ({ kind: 'run', seed, resumed });

/** What every store of idempotency keys promises, whatever it is built on. */
export const idempotencyStoreContract = (name: string, open: () => Promise<OpenedIdempotencyStore>): void => {
  describe(`${name} as a store of idempotency keys`, () => {
    let opened: OpenedIdempotencyStore;
    let store: IdempotencyStore;

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });

    afterEach(() => opened.dispose());

    const reserve = (seed: string, { scope = 'scope', key = 'key', digest = 'digest' } = {}) =>
      store.reserve(scope, key, digest, seed);

    it('lets the first request run under its own seed', async () => {
      expect(await reserve('one')).toEqual(run('one'));
    });

    it('tells a repeat that the first one is still running', async () => {
      await reserve('one');
      expect(await reserve('two')).toEqual({ kind: 'running' });
    });

    it('lets no repeat run beside the first one, whatever the clock says, and keeps its end', async () => {
      await reserve('one');
      await opened.later(25 * HOUR_MS);
      await reserve('other', { key: 'another key' });
      expect(await reserve('two')).toEqual({ kind: 'running' });
      await store.complete('scope', 'key', answer);
      expect(await reserve('three')).toEqual(run('three'));
    });

    it('gives a repeat the first answer, again and again', async () => {
      await reserve('one');
      await store.complete('scope', 'key', answer);
      expect(await reserve('two')).toEqual({ kind: 'answered', answer });
      expect(await reserve('three')).toEqual({ kind: 'answered', answer });
    });

    it('shows the answer that is kept for the same request, and reserves nothing by that', async () => {
      const kept = (digest = 'digest') => store.kept('scope', 'key', digest);
      expect(await kept()).toBeNull();
      await reserve('one');
      expect(await kept()).toBeNull();
      await store.complete('scope', 'key', answer);
      expect([await kept(), await kept('other')]).toEqual([answer, null]);
      expect(await store.kept('scope', 'another', 'digest')).toBeNull();
      expect(await reserve('two', { key: 'another' })).toEqual(run('two'));
      await opened.later(24 * HOUR_MS + MINUTE_MS);
      expect(await kept()).toBeNull();
    });

    it('tells another request that the key was used, whether the first one runs or is answered', async () => {
      await reserve('one');
      expect(await reserve('two', { digest: 'other' })).toEqual({ kind: 'reused' });
      await store.complete('scope', 'key', answer);
      expect(await reserve('three', { digest: 'other' })).toEqual({ kind: 'reused' });
    });

    it('keeps scopes and keys apart, however they are cut', async () => {
      await reserve('one', { scope: 'a b', key: 'c' });
      expect(await reserve('two', { scope: 'a', key: 'b c' })).toEqual(run('two'));
      expect(await reserve('three', { scope: 'a b', key: 'd' })).toEqual(run('three'));
      expect(await reserve('four', { scope: '["a","b', key: 'c"]' })).toEqual(run('four'));
    });

    it('lets exactly one of several at the same time run', async () => {
      const taken = await Promise.all(['one', 'two', 'three'].map((seed) => reserve(seed)));
      expect(taken).toEqual([run('one'), { kind: 'running' }, { kind: 'running' }]);
    });

    describe('a key that was released', () => {
      it('is free for another request', async () => {
        await reserve('one');
        await store.release('scope', 'key');
        expect(await reserve('two', { digest: 'other' })).toEqual(run('two'));
        expect(await reserve('three')).toEqual({ kind: 'reused' });
      });

      it('lets the same request run again under the same seed: a failed one may have done something', async () => {
        await reserve('one');
        await store.release('scope', 'key');
        expect(await reserve('two')).toEqual(run('one', true));
        expect(await reserve('three')).toEqual({ kind: 'running' });
        await store.complete('scope', 'key', answer);
        expect(await reserve('four')).toEqual({ kind: 'answered', answer });
      });
    });

    it('completes and releases what nobody reserved without a trace', async () => {
      await store.complete('scope', 'key', answer);
      await store.release('scope', 'other');
      expect(await reserve('one')).toEqual(run('one'));
    });

    describe('after the process died', () => {
      it('lets a repeat of what was running resume it under its seed, once', async () => {
        await reserve('one');
        store = await opened.afterDeath();
        expect(await reserve('two')).toEqual(run('one', true));
        expect(await reserve('three')).toEqual({ kind: 'running' });
        store = await opened.afterDeath();
        expect(await reserve('four')).toEqual(run('one', true));
      });

      it('refuses another request under the key of what was running', async () => {
        await reserve('one');
        store = await opened.afterDeath();
        expect(await reserve('two', { digest: 'other' })).toEqual({ kind: 'reused' });
      });

      it('gives a repeat the answer of before', async () => {
        await reserve('one');
        await store.complete('scope', 'key', answer);
        store = await opened.afterDeath();
        expect(await reserve('two')).toEqual({ kind: 'answered', answer });
      });
    });

    it('remembers a key for 24 hours from its first request, and then no longer', async () => {
      await reserve('one');
      await opened.later(HOUR_MS);
      await store.complete('scope', 'key', answer);
      await opened.later(23 * HOUR_MS - MINUTE_MS);
      expect(await reserve('two')).toEqual({ kind: 'answered', answer });
      await opened.later(MINUTE_MS);
      expect(await reserve('three', { digest: 'other' })).toEqual(run('three'));
    });

    it('lets go of old keys while new ones come, and of no others', async () => {
      for (let n = 0; n < 50; n += 1) await reserve(`old-${n}`, { key: `old-${n}` });
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
