import { describe, expect, it } from 'vitest';

import { mindFold } from '../../../../src/features/npcs/mind-fold.js';
import { archiveNpc, registerNpc, type Registration } from '../../../../src/features/npcs/domain/decide.js';
import { DATA_BYTES } from '../../../../src/features/npcs/domain/mind-data.js';
import { givenOf } from '../../../support/given.js';

const given = givenOf(mindFold);

const unknown = given();
const mind = given({ type: 'NpcRegistered', data: { persona: 'Calm.', data: { hp: 3, mood: { fear: 0 } } } });
const archived = mind.when(archiveNpc).and;
const withoutData = given({ type: 'NpcRegistered', data: {} });

/** Data of this many bytes of JSON. */
const dataOf = (bytes: number) => ({ notes: 'x'.repeat(bytes - '{"notes":""}'.length) });

describe("a mind's data", () => {
  const holding = (bytes: number) => given({ type: 'NpcRegistered', data: { data: dataOf(bytes) } });

  it('holds at most 256 KiB, in a new mind and in a known one [1.2z]', () => {
    expect(DATA_BYTES).toBe(256 * 1024);
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

  it('may only shrink or stay the same beyond its bound [1.2z]', () => {
    const beyond = holding(DATA_BYTES + 100);
    const less = dataOf(DATA_BYTES + 99);
    beyond.when(registerNpc, { data: less }).then([{ type: 'NpcUpdated', data: { data: less } }]);
    beyond.when(registerNpc, { data: dataOf(DATA_BYTES + 100) }).then([]);
    beyond.when(registerNpc, { data: dataOf(DATA_BYTES + 101) }).then('DATA_TOO_LARGE');
    expect(beyond.when(registerNpc, { persona: 'Calm.' }).events).toHaveLength(1);
  });
});

describe('registering a mind', () => {
  it.each<[given: string, type: string, before: typeof mind, asked: Registration, data?: Registration]>([
    [
      'persona and data of a new one',
      'NpcRegistered',
      unknown,
      { persona: 'Calm.', data: {} },
      { persona: 'Calm.', data: {} },
    ],
    ['nothing of a new one', 'NpcRegistered', unknown, {}, {}],
    ['another persona', 'NpcUpdated', mind, { persona: 'Bold.' }, { persona: 'Bold.' }],
    ['an empty persona', 'NpcUpdated', mind, { persona: '' }, { persona: '' }],
    ['data that replace all', 'NpcUpdated', mind, { data: { hp: 3 } }, { data: { hp: 3 } }],
    ['its own persona and other data', 'NpcUpdated', mind, { persona: 'Calm.', data: {} }, { data: {} }],
    ['empty data without earlier data', 'NpcUpdated', withoutData, { data: {} }, { data: {} }],
    ['nothing', 'no event', mind, {}],
    ['unchanged members in another order', 'no event', mind, { persona: 'Calm.', data: { mood: { fear: 0 }, hp: 3 } }],
    ['nothing of an archived one', 'NpcUpdated', archived, {}, {}],
    ['a new persona of an archived one', 'NpcUpdated', archived, { persona: 'Bold.' }, { persona: 'Bold.' }],
  ])('given %s records %s [2.1e]', (_, type, before, asked, data) => {
    before.when(registerNpc, asked).then(data === undefined ? [] : [{ type, data }]);
  });
});

describe('archiving a mind', () => {
  it('is recorded once, and not at all for an unknown mind', () => {
    mind.when(archiveNpc).then([{ type: 'NpcArchived', data: {} }]);
    archived.when(archiveNpc).then([]);
    unknown.when(archiveNpc).then([]);
  });
});
