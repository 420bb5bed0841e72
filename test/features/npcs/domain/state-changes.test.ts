import { describe, expect, it } from 'vitest';

import { stateChanges } from '../../../../src/features/npcs/domain/state-changes.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { drained } from '../../../../src/kernel/base/sliced.js';

const changes = (before: JsonObject, after: JsonObject) => drained(stateChanges(before, after));

describe('The changes between two states', () => {
  it('are the values that differ, by their pointers [10.1x]', () => {
    const before = {
      hp: 3,
      met: { ann: { trust: 1 }, 'a/b~': 1 },
      items: ['key'],
      gone: null,
      same: { x: [1, { y: 2 }] },
    };
    const after = { hp: 4, met: { ann: { trust: 2 }, bo: {} }, items: ['key', 'map'], same: { x: [1, { y: 2 }] } };
    expect(changes(before, after)).toEqual([
      { path: '/gone', before: null },
      { path: '/hp', before: 3, after: 4 },
      { path: '/items', before: ['key'], after: ['key', 'map'] },
      { path: '/met/a~1b~0', before: 1 },
      { path: '/met/ann/trust', before: 1, after: 2 },
      { path: '/met/bo', after: {} },
    ]);
    expect(changes(after, after)).toEqual([]);
  });

  it('tell null from absence, objects from other values, and know only own members [10.1x]', () => {
    expect(changes({ a: null, b: {} }, { b: 0 })).toEqual([
      { path: '/a', before: null },
      { path: '/b', before: {}, after: 0 },
    ]);
    const own = JSON.parse('{"__proto__": 1, "toString": 2}') as JsonObject;
    expect(changes({}, own)).toEqual([
      { path: '/__proto__', after: 1 },
      { path: '/toString', after: 2 },
    ]);
  });

  it('pauses within a large state [10.1x]', () => {
    const large = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`m${String(at)}`, at]));
    let pauses = 0;
    for (const work = stateChanges(large, {}); work.next().done !== true;) pauses += 1;
    expect(pauses).toBe(5_000);
  });
});
