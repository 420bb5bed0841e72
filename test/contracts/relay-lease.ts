import { describe, expect, it } from 'vitest';

import type { RelayLease } from '../../src/ports/relay-lease.js';

/** One lease, held for `HOLDS_MS` unless it is renewed. Each call of `lease` returns another process's access to it. */
export type LeaseUnderTest = AsyncDisposable & {
  lease(): RelayLease;
  /** Resolves when a lease that was not renewed has expired. */
  lapse(): Promise<void>;
};

/** How long a lease under test is held, in milliseconds. */
export const HOLDS_MS = 1_000;

/** The promises of ports/relay-lease.ts, for every adapter. */
export const relayLeaseContract = (name: string, open: () => LeaseUnderTest): void => {
  describe(`${name}, as the relay’s lease`, () => {
    it('belongs to one holder until it is released, and only its holder advances the checkpoint', async () => {
      await using place = open();
      const [one, two] = [place.lease(), place.lease()];
      expect([await one.take('one'), await two.take('two')]).toEqual([0, null]);
      expect([await one.keep('one', 7), await two.keep('two', 9)]).toEqual([true, false]);
      await two.release('two');
      expect(await two.take('two')).toBeNull();
      await one.release('one');
      expect(await two.take('two')).toBe(7);
      expect([await one.keep('one', 8), await one.take('one')]).toEqual([false, null]);
    });

    it('is free for others when its holder does not renew it, and can be renewed if it was not taken', async () => {
      await using place = open();
      const [one, two] = [place.lease(), place.lease()];
      await one.take('one');
      await one.keep('one', 7);
      await place.lapse();
      expect(await one.keep('one', 8)).toBe(true);
      expect(await two.take('two')).toBeNull();
      await place.lapse();
      expect(await two.take('two')).toBe(8);
      expect(await one.keep('one', 9)).toBe(false);
    });

    it('is taken by one of many concurrent callers', async () => {
      await using place = open();
      const asked = Array.from({ length: 8 }, (_, n) => place.lease().take(`relay ${n}`));
      expect((await Promise.all(asked)).filter((position) => position !== null)).toEqual([0]);
    });
  });
};
