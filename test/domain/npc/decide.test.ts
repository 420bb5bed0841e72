import { describe, expect, it } from 'vitest';

import { mindFold } from '../../../src/app/minds/mind.js';
import { archiveNpc, registerNpc, type Registration } from '../../../src/domain/npc/decide.js';
import { DATA_BYTES } from '../../../src/domain/npc/mind-data.js';
import { givenOf } from '../../support/given.js';

const given = givenOf(mindFold);

const unknown = given();
const mind = given({ type: 'NpcRegistered', data: { persona: 'Calm.', data: { hp: 3, mood: { fear: 0 } } } });
const archived = mind.when(archiveNpc).and;
const withoutData = given({ type: 'NpcRegistered', data: {} });

/** Data of so many bytes of JSON. */
const dataOf = (bytes: number) => ({ notes: 'x'.repeat(bytes - '{"notes":""}'.length) });

describe("a mind's data", () => {
  const holding = (bytes: number) => given({ type: 'NpcRegistered', data: { data: dataOf(bytes) } });

  it('holds 256 KiB and not a byte more, in a new mind and in one that is known', () => {
    for (const [before, type] of [
      [unknown, 'NpcRegistered'],
      [holding(20), 'NpcUpdated'],
    ] as const) {
      const data = dataOf(DATA_BYTES);
      before.when(registerNpc, { data }).then([{ type, data: { data } }]);
      before
        .when(registerNpc, { data: dataOf(DATA_BYTES + 1) })
        .then('DATA_TOO_LARGE', { bytes: DATA_BYTES + 1, limitBytes: DATA_BYTES });
    }
  });

  it('beyond its bound may only shrink, or stay', () => {
    const beyond = holding(DATA_BYTES + 100);
    const less = dataOf(DATA_BYTES + 99);
    beyond.when(registerNpc, { data: less }).then([{ type: 'NpcUpdated', data: { data: less } }]);
    beyond.when(registerNpc, { data: dataOf(DATA_BYTES + 100) }).then([]);
    beyond.when(registerNpc, { data: dataOf(DATA_BYTES + 101) }).then('DATA_TOO_LARGE');
    expect(beyond.when(registerNpc, { persona: 'Calm.' }).events).toHaveLength(1);
  });
});

describe('registering a mind', () => {
  it.each<[given: string, before: typeof mind, asked: Registration, type: string | null, recorded?: Registration]>([
    ['a new one', unknown, { persona: 'Calm.', data: {} }, 'NpcRegistered', { persona: 'Calm.', data: {} }],
    ['a new one with nothing', unknown, {}, 'NpcRegistered', {}],
    ['another persona', mind, { persona: 'Bold.' }, 'NpcUpdated', { persona: 'Bold.' }],
    ['an empty persona', mind, { persona: '' }, 'NpcUpdated', { persona: '' }],
    ['data that replace whole', mind, { data: { hp: 3 } }, 'NpcUpdated', { data: { hp: 3 } }],
    ['only what changes', mind, { persona: 'Calm.', data: {} }, 'NpcUpdated', { data: {} }],
    ['empty data where there were none', withoutData, { data: {} }, 'NpcUpdated', { data: {} }],
    ['nothing', mind, {}, null],
    ['what it is already, in another order', mind, { persona: 'Calm.', data: { mood: { fear: 0 }, hp: 3 } }, null],
    ['an archived one again', archived, {}, 'NpcUpdated', {}],
    ['an archived one with a new persona', archived, { persona: 'Bold.' }, 'NpcUpdated', { persona: 'Bold.' }],
  ])('%s', (_, before, asked, type, data = {}) => {
    before.when(registerNpc, asked).then(type === null ? [] : [{ type, data }]);
  });
});

describe('archiving a mind', () => {
  it('is recorded once, and not at all for one that never was', () => {
    mind.when(archiveNpc).then([{ type: 'NpcArchived', data: {} }]);
    archived.when(archiveNpc).then([]);
    unknown.when(archiveNpc).then([]);
  });
});
