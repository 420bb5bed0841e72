import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { jcs, type JsonObject } from '../../../../src/kernel/base/json.js';
import { dataOf, soulStateOf } from '../../../../src/features/souls/domain/soul-state.js';

const empty = { inventory: [], skills: {}, relationships: {}, mood: 'neutral', fear: 0, confidence: 0, extra: {} };
const names = ['confidence', 'fear', 'inventory', 'mood', 'relationships', 'skills'];

describe('the state of a soul', () => {
  it('is all defaults without any records, and marks them [7.2j, 8.7d]', () => {
    expect(soulStateOf({})).toEqual({ ...empty, filled: names });
    expect(soulStateOf(null)).toEqual(soulStateOf({}));
  });

  it('adopts fitting members, and keeps all others [7.2i, 7.2k, 8.7d]', () => {
    const data = {
      inventory: ['key'],
      skills: { lie: 3 },
      relationships: {},
      mood: 'loyal',
      fear: 0,
      hp: 7,
      tags: [1],
    };
    expect(soulStateOf(data)).toEqual({
      ...empty,
      inventory: ['key'],
      skills: { lie: 3 },
      mood: 'loyal',
      extra: { hp: 7, tags: [1] },
      filled: ['confidence'],
    });
  });

  it.each<[string, JsonObject]>([
    ['an inventory with values other than texts', { inventory: ['key', 1] }],
    ['an inventory that is an object', { inventory: { key: 1 } }],
    ['skills with values other than numbers', { skills: { lie: 3, steal: 'well' } }],
    ['skills as a list', { skills: [1] }],
    ['relationships without a number', { relationships: { anna: null } }],
    ['an unknown mood', { mood: 'hungry' }],
    ['a mood in capitals', { mood: 'Loyal' }],
    ['fear as a text', { fear: '0.5' }],
    ['confidence that is null', { confidence: null }],
  ])('keeps %s in extra, and has the default [7.2k, 8.7d]', (_, data) => {
    expect(soulStateOf(data)).toEqual({ ...empty, extra: data, filled: names });
  });

  it('has nothing of the properties that objects inherit', () => {
    expect(dataOf(soulStateOf({}))).toEqual({});
    const data = JSON.parse(
      '{"constructor": 1, "toString": {}, "filled": ["fear"], "extra": {"fear": 1}}',
    ) as JsonObject;
    expect(soulStateOf(data)).toEqual({ ...empty, extra: data, filled: names });
    expect(dataOf(soulStateOf(data))).toEqual(data);
  });

  it('restores the data exactly, whatever was recorded [8.4p, 8.7d]', () => {
    const key = fc.oneof(
      fc.constantFrom(...names, 'extra', 'filled', 'constructor', 'hasOwnProperty', 'name'),
      fc.string().filter((text) => text !== '__proto__'),
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('loyal', 'neutral', 0, [], {}, ['key'], { lie: 1 }, { fear: 0 }),
    );
    fc.assert(
      fc.property(fc.dictionary(key, value), (recorded) => {
        const data = JSON.parse(JSON.stringify(recorded)) as JsonObject;
        const state = soulStateOf(data);
        expect(jcs(dataOf(state))).toBe(jcs(data));
        expect(state.filled).toEqual([...state.filled].sort());
        expect(soulStateOf(dataOf(state))).toEqual(state);
      }),
      { numRuns: 500 },
    );
  });
});
