import { describe, expect, it } from 'vitest';

import type { RelayLease } from '../../src/ports/relay-lease.js';

/** One place, held for `HOLDS_MS` unless it is renewed. Each call of `lease` returns another process's access to it. */
export type LeaseUnderTest = AsyncDisposable & {
  lease(): RelayLease;
  /** Resolves when a place that was not renewed is free. */
  lapse(): Promise<void>;
};

/** How long a place under test is held, in milliseconds. */
export const HOLDS_MS = 1_000;

/** What ports/relay-lease.ts promises, for every adapter. */
export const relayLeaseContract = (name: string, open: () => LeaseUnderTest): void => {
  describe(`${name}, as the relay’s place`, () => {
    it('is one holder’s until that one leaves it, and its checkpoint is that holder’s to move', async () => {
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

    it('is free for others when its holder does not renew it, and that one’s again when nobody took it', async () => {
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

    it('is taken by one of many that ask at the same time', async () => {
      await using place = open();
      const asked = Array.from({ length: 8 }, (_, n) => place.lease().take(`relay ${n}`));
      expect((await Promise.all(asked)).filter((position) => position !== null)).toEqual([0]);
    });
  });
};
