import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import type { StreamEvent } from '../../../src/kernel/streams/fold.js';
import type { MindState } from '../../../src/features/npcs/domain/state.js';
import { jcs, type Json } from '../../../src/kernel/base/json.js';
import { sha256Hex } from '../../../src/kernel/crypto/sha256.js';

const fixtures = JSON.parse(
  readFileSync(new URL('../../fixtures/stored-events.json', import.meta.url), 'utf8'),
) as readonly { readonly kind: string; readonly stored: StreamEvent }[];
const events = fixtures.filter(({ kind }) => kind === 'npc').map(({ stored }) => stored);

/** The SHA-256 of the result of each fold version for every stored event. Add a line, change none. */
const folded: Readonly<Record<number, string>> = {
  1: 'ac4fd00b7aaad35143ad9d79aaf143513310b60256e08b7bef539ee4fd5f96b2',
  2: '67250d384e5cd7a1f57171d8ab58fc7bcd9e4d078e3274bd28f7e561d243d2ad',
  3: 'ea28231b31130fa99e8da343230a139d1d513c238b9e26d14e98ecb723d10c31',
  4: '04d1ed605405bc0d786f3686c6fc1b949a0908e1581c272d1d60bc0655355cb4',
  5: 'ef2dcfc7670f391882f68a2cf083acf2912f868a2b4433c614f2d38d59061cc4',
  6: 'a1231bf056198a15159c215a7b09bad3edcf14b5d3c8012da686db42731ab3ff',
  7: 'bd7fb6601c5484fa47d3a708f7f4352fe9c50d01bfe8ea671a14989ed800e2f1',
  8: 'd0a4d1ade111051e83dd065d1d815454eeba0ad7b8f116b47b5863f62292cb5a',
  9: 'f63ee0fffb43f749759048315be88a51ff15cfa344e4c17945aa6a7e3d7f1638',
  10: '02cd73ef52976406b4ea61b6d8bc0a3c7ff51e95cd6b771dd73ef71edb473d2d',
  11: '68e21f55ad4cf6d73cf16089b303cda37fd548d7e7cc57af2f29dfa3060ca16c',
  12: '68e21f55ad4cf6d73cf16089b303cda37fd548d7e7cc57af2f29dfa3060ca16c',
  13: 'cbeab9558c4fae46053e2fc27e4f57547c80fb501f4bdff3c225f88e682fb9a7',
  14: '67a9b08671ebdd43155b3f87de2281fdd86a220a43bca4ce8120c6bc35f4df57',
};

const RAISE = `A mind's events fold to another state than they did, or its state has another shape. Snapshots that were saved before would be
taken for states of today. So would those be that an older server saves of an event which only this program knows. Raise the version in
src/features/npcs/mind-fold.ts, and add its line here.`;

const afterEach = (initial: MindState): readonly MindState[] => {
  let state = initial;
  return events.map((event) => (state = mindFold.evolve(state, event)));
};
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** A state in which every event has something to change. */
const lived: MindState = {
  persona: 'before',
  data: { hp: 1, mood: 'calm' },
  facts: { weather: 'storm', war: { won: true } },
  archived: true,
  rulesetId: 'inn',
  players: 'shared',
  origin: { importId: 'i1', stored: 2, arrivedAt: -1 },
  changedAt: 6,
  revision: 7,
  updatedAt: '2026-01-01T00:00:00.000Z',
  openTurns: { list: ['t1', 't2'], changes: [{ turnId: 't2', open: false }] },
  memories: {
    count: 3,
    retracted: 0,
    clearedAt: 2,
    retractedAt: -1,
    confirmedAt: -1,
    list: ['-kG3WfXeWgfGLN9aFzwJ4sA 3 mjugqv40 2 t1-0'],
    changes: [{ stored: '-kG3WfXeWgfGLN9aFzwJ4sB 4 mjugqv40 0 m1' }, { confirmed: 't1-0' }],
  },
  card: { digest: 'kG3WfXeWgfGLN9aFzwJ4sA', revision: 5 },
};

describe("the fold of a mind's events", () => {
  it('has another version when its result changes', () => {
    const each = events.map((event) => mindFold.evolve(lived, event));
    const states = asJson([mindFold.initial, ...afterEach(mindFold.initial), ...afterEach(lived), ...each]);
    expect(sha256Hex(jcs(states)), RAISE).toBe(folded[mindFold.snapshots?.version ?? 0]);
  });

  it('makes states that a snapshot restores unchanged', () => {
    for (const state of [mindFold.initial, ...afterEach(mindFold.initial), ...afterEach(lived)]) {
      expect(mindFold.snapshots?.restore(asJson(state), state.revision)).toEqual(state);
    }
  });
});
