import { describe, expect, it } from 'vitest';
import { checkAction, situationOf } from '../../../../../src/features/rules/domain/bridge/validate.js';
import { ACTION_ITEMS } from '../../../../../src/features/rules/domain/bridge/world.js';
import type { Action } from '../../../../../src/features/rules/domain/bridge/action.js';
import { ARRAY_ELEMENTS } from '../../../../../src/features/rules/domain/key-tree.js';
import type { Json, JsonObject } from '../../../../../src/kernel/base/json.js';

/** A list or a map that counts the reads of each entry. */
const counted = <Things extends object>(things: Things): { readonly things: Things; readonly reads: () => number } => {
  let reads = 0;
  const get = (target: Things, name: string | symbol): unknown => {
    if (typeof name === 'string' && Object.hasOwn(target, name) && name !== 'length') reads += 1;
    return Reflect.get(target, name);
  };
  return { things: new Proxy(things, { get }), reads: () => reads };
};

const manyNames = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `n${index}`);
const asMap = (names: readonly string[]): JsonObject => Object.fromEntries(names.map((name) => [name, 1]));
const check = (action: Action, npcState: JsonObject, context: Json = {}) =>
  checkAction(action, situationOf(npcState, context, 'x')).refusal;

const last = 'n999';
const beyond = 'n1000';

describe('the cost of a world check', () => {
  it.each<[string, (names: readonly string[]) => Json & object]>([
    ['a list', (names) => [...names]],
    ['a map', asMap],
  ])('is one read of the first entries of %s, however many items are used', (_, make) => {
    const { things, reads } = counted(make(manyNames(20_000)));
    const items = Array.from({ length: ACTION_ITEMS }, () => last);
    expect(check({ type: 'TRADE', items }, { inventory: things })).toBeNull();
    expect(reads()).toBeLessThanOrEqual(2 * ARRAY_ELEMENTS);
  });

  it.each<[string, Action, (things: Json) => Json]>([
    ['entities', { type: 'ATTACK', target: 'nobody' }, (entities) => ({ worldState: { entities } })],
    ['allowed actions', { type: 'DANCE' }, (allowedActions) => ({ constraints: { allowedActions } })],
    ['forbidden actions', { type: 'DANCE' }, (forbiddenActions) => ({ constraints: { forbiddenActions } })],
  ])('is bounded to the first entries of %s', (_, action, around) => {
    const { things, reads } = counted([...manyNames(20_000)]);
    check(action, {}, around(things));
    expect(reads()).toBeGreaterThanOrEqual(ARRAY_ELEMENTS);
    expect(reads()).toBeLessThanOrEqual(2 * ARRAY_ELEMENTS);
  });

  it.each<[string, Json]>([
    ['a list', [...manyNames(ARRAY_ELEMENTS + 1)]],
    ['a map', asMap(manyNames(ARRAY_ELEMENTS + 1))],
  ])('includes the thousandth entry of %s and not the next one [4.2d]', (_, things) => {
    const codes = [last, beyond].flatMap((name) => [
      check({ type: 'GIVE', item: name }, { inventory: things })?.code,
      check({ type: 'ATTACK', target: name }, {}, { worldState: { entities: things } })?.code,
    ]);
    expect(codes).toEqual([undefined, undefined, 'ITEM_NOT_IN_INVENTORY', 'TARGET_NOT_FOUND']);
  });

  it('includes the thousandth allowed or forbidden type and not the next one [4.2d]', () => {
    const types = [...manyNames(ARRAY_ELEMENTS + 1)];
    const codes = [last, beyond].flatMap((name) => {
      const type = name.toUpperCase();
      return [
        check({ type }, {}, { constraints: { allowedActions: types } })?.code,
        check({ type }, {}, { constraints: { forbiddenActions: types } })?.code,
      ];
    });
    expect(codes).toEqual([undefined, 'ACTION_FORBIDDEN', 'ACTION_NOT_ALLOWED', undefined]);
  });

  it.each<[string, JsonObject]>([
    ['in one list', { items: Array.from({ length: 65 }, () => 'rope') }],
    ['in several lists', { item: 'rope', items: Array.from({ length: 64 }, () => 'rope') }],
    ['behind entries without a name', { offer: [...Array.from({ length: 64 }, () => 0), 'crown'] }],
  ])('leads to a refusal beyond the limit of items: %s [4.2e]', (_, items) => {
    const inventory = ['rope'];
    expect(
      check({ type: 'GIVE', payload: { items: Array.from({ length: 64 }, () => 'rope') } }, { inventory }),
    ).toBeNull();
    expect(check({ type: 'GIVE', payload: items }, { inventory })).toMatchObject({
      code: 'ITEMS_TOO_MANY',
      details: { most: ACTION_ITEMS },
    });
  });

  it('is the same for a single item under any of its names', () => {
    for (const name of ['item', 'itemId', 'itemName', 'offer', 'give', 'items']) {
      expect(check({ type: 'GIVE', [name]: 'crown' }, { inventory: [] })?.code).toBe('ITEM_NOT_IN_INVENTORY');
    }
  });
});
