import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Snapshot, Snapshots } from '../../src/ports/snapshots.js';

export type OpenedSnapshots = { readonly snapshots: Snapshots; readonly dispose: () => Promise<void> };

const END = { revision: Number.MAX_SAFE_INTEGER };
const ONE = 'npc-studio.one';

/** The promises of every snapshot store (ports/snapshots.ts). */
export const snapshotsContract = (name: string, open: () => Promise<OpenedSnapshots>): void => {
  describe(`${name} as a snapshot store`, () => {
    let opened: OpenedSnapshots;
    let snapshots: Snapshots;

    /** A snapshot whose event happened a second after the event of the previous revision. */
    const snapshot = (revision: number, members: Partial<Snapshot> = {}): Snapshot => ({
      stream: ONE,
      version: 1,
      revision,
      hash: `hash of ${String(revision)}`,
      atMs: 1_000 * revision,
      state: JSON.stringify({ revision }),
      ...members,
    });
    const found = async (moment: Parameters<Snapshots['latest']>[2], version = 1, stream = ONE) =>
      (await snapshots.latest(stream, version, moment))?.revision ?? null;

    beforeEach(async () => {
      opened = await open();
      snapshots = opened.snapshots;
    });

    afterEach(() => opened.dispose());

    it('returns a saved snapshot', async () => {
      const state = JSON.stringify({ text: 'null \u0000, half \ud800, "quoted" \u{1f600}', list: [1.5, -1, null, {}] });
      const kept = snapshot(2_000_000_000_000, { state, atMs: 8_000_000_000_000, hash: 'f'.repeat(64) });
      await snapshots.save(kept);
      expect(await snapshots.latest(ONE, 1, END)).toEqual(kept);
    });

    it('has none for a stream without saved ones', async () => {
      expect(await snapshots.latest(ONE, 1, END)).toBeNull();
    });

    it('finds the latest that is not beyond a revision', async () => {
      for (const revision of [200, 100, 1_000]) await snapshots.save(snapshot(revision));
      expect(await found(END)).toBe(1_000);
      expect([await found({ revision: 999 }), await found({ revision: 200 })]).toEqual([200, 200]);
      expect([await found({ revision: 199 }), await found({ revision: 99 })]).toEqual([100, null]);
    });

    it('finds the latest that is not beyond an instant', async () => {
      for (const revision of [200, 100, 1_000]) await snapshots.save(snapshot(revision));
      expect([await found({ timeMs: 1_000_000 }), await found({ timeMs: 999_999 })]).toEqual([1_000, 200]);
      expect([await found({ timeMs: 100_000 }), await found({ timeMs: 99_999 })]).toEqual([100, null]);
      expect(await found({ timeMs: -62_167_219_200_000 })).toBeNull();
    });

    it('finds the last of those with the same instant', async () => {
      for (const revision of [30, 10, 20]) await snapshots.save(snapshot(revision, { atMs: 5 }));
      expect([await found({ timeMs: 5 }), await found({ timeMs: 4 })]).toEqual([30, null]);
    });

    it('keeps streams and versions apart', async () => {
      await snapshots.save(snapshot(1));
      await snapshots.save(snapshot(2, { version: 2 }));
      await snapshots.save(snapshot(3, { stream: 'npc-other.one' }));
      await snapshots.save(snapshot(4, { stream: 'npc-studio.one.more' }));
      await snapshots.save(snapshot(5, { stream: 'npc-studio.ONE' }));
      expect([await found(END), await found(END, 2), await found(END, 3)]).toEqual([1, 2, null]);
      expect([await found({ timeMs: 9_000 }), await found({ timeMs: 9_000 }, 2)]).toEqual([1, 2]);
      expect([await found(END, 1, 'npc-other.one'), await found(END, 2, 'npc-other.one')]).toEqual([3, null]);
    });

    it('holds one for each revision, the one that was saved last', async () => {
      await snapshots.save(snapshot(7));
      await snapshots.save(snapshot(7, { hash: 'other', atMs: 1, state: '"other"' }));
      expect(await snapshots.latest(ONE, 1, END)).toMatchObject({ hash: 'other', atMs: 1, state: '"other"' });
      await snapshots.save(snapshot(7, { version: 2 }));
      expect([await found(END), await found(END, 2)]).toEqual([null, 7]);
    });

    it('does not rewrite an existing one', async () => {
      await snapshots.save(snapshot(7));
      await snapshots.save(snapshot(7, { atMs: 1 }));
      expect(await snapshots.latest(ONE, 1, END)).toEqual(snapshot(7));
      await snapshots.save(snapshot(7, { state: '"whole again"' }));
      expect(await snapshots.latest(ONE, 1, END)).toMatchObject({ state: '"whole again"' });
    });
  });
};
