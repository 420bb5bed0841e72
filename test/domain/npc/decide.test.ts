import { describe, expect, it } from 'vitest';

import { archiveNpc, registerNpc, type Registration } from '../../../src/domain/npc/decide.js';
import { DATA_BYTES } from '../../../src/domain/npc/mind-data.js';
import { Rejection } from '../../../src/domain/shared/rejection.js';
import { initialMind, type MindState } from '../../../src/domain/npc/state.js';

const mind: MindState = {
  ...initialMind,
  persona: 'Calm.',
  data: { hp: 3, mood: { fear: 0 } },
  revision: 4,
};
const archived: MindState = { ...mind, archived: true };
const withoutData: MindState = { ...mind, persona: null, data: null };

const decidedOf = (decided: ReturnType<typeof registerNpc>) => {
  if (decided instanceof Rejection) throw decided;
  return decided;
};
/** Data of so many bytes of JSON. */
const dataOf = (bytes: number) => ({ notes: 'x'.repeat(bytes - '{"notes":""}'.length) });

describe("a mind's data", () => {
  const holding = (bytes: number): MindState => ({ ...initialMind, revision: 0, data: dataOf(bytes) });
  const refused = (mind: MindState, bytes: number) => registerNpc(mind, { data: dataOf(bytes) }) instanceof Rejection;

  it('holds 256 KiB and not a byte more, in a new mind and in one that is known', () => {
    for (const mind of [initialMind, holding(20)]) {
      expect(refused(mind, DATA_BYTES)).toBe(false);
      expect(registerNpc(mind, { data: dataOf(DATA_BYTES + 1) })).toMatchObject({
        code: 'DATA_TOO_LARGE',
        details: { bytes: DATA_BYTES + 1, limitBytes: DATA_BYTES },
      });
    }
  });

  it('beyond its bound may only shrink, or stay', () => {
    expect(refused(holding(DATA_BYTES + 100), DATA_BYTES + 99)).toBe(false);
    expect(registerNpc(holding(DATA_BYTES + 100), { data: dataOf(DATA_BYTES + 100) })).toEqual([]);
    expect(refused(holding(DATA_BYTES + 100), DATA_BYTES + 101)).toBe(true);
    expect(decidedOf(registerNpc(holding(DATA_BYTES + 100), { persona: 'Calm.' }))).toHaveLength(1);
  });
});

describe('registering a mind', () => {
  it.each<[given: string, mind: MindState, asked: Registration, recorded: unknown]>([
    ['a new one', initialMind, { persona: 'Calm.', data: {} }, ['NpcRegistered', { persona: 'Calm.', data: {} }]],
    ['a new one with nothing', initialMind, {}, ['NpcRegistered', {}]],
    ['another persona', mind, { persona: 'Bold.' }, ['NpcUpdated', { persona: 'Bold.' }]],
    ['an empty persona', mind, { persona: '' }, ['NpcUpdated', { persona: '' }]],
    ['data that replace whole', mind, { data: { hp: 3 } }, ['NpcUpdated', { data: { hp: 3 } }]],
    ['only what changes', mind, { persona: 'Calm.', data: {} }, ['NpcUpdated', { data: {} }]],
    ['empty data where there were none', withoutData, { data: {} }, ['NpcUpdated', { data: {} }]],
    ['nothing', mind, {}, null],
    ['what it is already, in another order', mind, { persona: 'Calm.', data: { mood: { fear: 0 }, hp: 3 } }, null],
    ['an archived one again', archived, {}, ['NpcUpdated', {}]],
    ['an archived one with a new persona', archived, { persona: 'Bold.' }, ['NpcUpdated', { persona: 'Bold.' }]],
  ])('%s', (_, state, asked, recorded) => {
    const [event, ...others] = decidedOf(registerNpc(state, asked));
    expect(event === undefined ? null : [event.type, event.data]).toEqual(recorded);
    expect(others).toEqual([]);
  });
});

describe('archiving a mind', () => {
  it('is recorded once, and not at all for one that never was', () => {
    expect(archiveNpc(mind)).toEqual([{ type: 'NpcArchived', data: {} }]);
    expect(archiveNpc(archived)).toEqual([]);
    expect(archiveNpc(initialMind)).toEqual([]);
  });
});
