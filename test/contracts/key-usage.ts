import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Clock } from '../../src/ports/clock.js';
import type { KeyUsage } from '../../src/ports/key-usage.js';
import { ManualClock } from '../support/manual-clock.js';

export type OpenedKeyUsage = { readonly usage: KeyUsage; readonly dispose: () => Promise<void> };

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

/** The promises of every store of the last use of keys. */
export const keyUsageContract = (name: string, open: (clock: Clock) => Promise<OpenedKeyUsage>): void => {
  describe(`${name} as a store of the last use of keys`, () => {
    const clock = new ManualClock();
    let opened: OpenedKeyUsage;
    let usage: KeyUsage;

    beforeEach(async () => {
      opened = await open(clock);
      usage = opened.usage;
    });

    afterEach(() => opened.dispose());

    it('returns the last use of the given keys, and omits those never used', async () => {
      usage.touch('a', at(1));
      usage.touch('b', at(2));
      usage.touch('c', at(3));
      expect(await usage.lastUsedAt(['a', 'b', 'x'])).toEqual(
        new Map([
          ['a', '2026-01-01T00:00:01.000Z'],
          ['b', '2026-01-01T00:00:02.000Z'],
        ]),
      );
    });

    it('keeps the latest use, in whatever order uses are reported and however long between', async () => {
      usage.touch('a', at(5));
      usage.touch('a', at(4));
      await clock.advance(60_000);
      usage.touch('a', at(3));
      expect((await usage.lastUsedAt(['a'])).get('a')).toBe('2026-01-01T00:00:05.000Z');
      await clock.advance(60_000);
      expect((await usage.lastUsedAt(['a'])).get('a')).toBe('2026-01-01T00:00:05.000Z');
      usage.touch('a', at(6));
      expect((await usage.lastUsedAt(['a'])).get('a')).toBe('2026-01-01T00:00:06.000Z');
    });
  });
};
