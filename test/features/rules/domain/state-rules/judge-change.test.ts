import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { judgeChange } from '../../../../../src/features/rules/domain/state-rules/judge-change.js';
import type { StateRule } from '../../../../../src/features/rules/domain/state-rules/state-rule.js';
import { isObject, type Json, type JsonObject } from '../../../../../src/kernel/base/json.js';
import { mergePatch } from '../../../../../src/kernel/base/merge-patch.js';

const game = (path: string, members: Partial<StateRule> = {}): StateRule => ({ path, writer: 'game', ...members });
const model = (path: string, members: Partial<StateRule> = {}): StateRule => ({ path, writer: 'model', ...members });
const data = {
  hp: 10,
  inventory: ['rope'],
  mood: 'calm',
  quest: { done: false, told: 1, giver: { name: 'Tom' } },
  relationships: { tom: 3 },
  bag: [{ id: 'key', qty: 1 }],
};
const patchOf = (rules: readonly StateRule[], change: JsonObject) => judgeChange(rules, data, change).patch;
const breaksOf = (rules: readonly StateRule[], change: JsonObject) =>
  judgeChange(rules, data, change).breaks.map(({ path, onBreak, reason }) => [path, onBreak, reason]);

describe('a state change', () => {
  it.each<[string, JsonObject]>([
    ['a new value', { quest: { done: true } }],
    ['null', { quest: { done: null } }],
    ['the whole object', { quest: null }],
    ['a value in place of the object', { quest: 'done' }],
    ['an array in place of the object', { quest: [] }],
    ['another type', { quest: { done: 'true' } }],
  ])('cannot write what the game writes: %s [5.8c, 5.8e]', (_, change) => {
    expect(judgeChange([game('quest.done')], data, change)).toMatchObject({ patch: {}, breaks: [{}] });
  });

  it('may repeat the value that a member has, which is no change [5.8e]', () => {
    const same = { quest: { done: false, giver: { name: 'Tom' } }, hp: 10, inventory: ['rope'] };
    expect(judgeChange([game('quest')], data, same)).toEqual({ patch: {}, breaks: [] });
  });

  it('keeps its allowed part, beside the part that is left out', () => {
    expect(patchOf([game('quest.done')], { quest: { done: true, told: 2 }, mood: 'glad' })).toEqual({
      quest: { told: 2 },
      mood: 'glad',
    });
    expect(patchOf([game('secret.word')], { secret: { word: 'abc', known: true } })).toEqual({
      secret: { known: true },
    });
    expect(patchOf([game('secret.word')], { secret: { word: 'abc' } })).toEqual({});
  });

  it('cannot write inventory, hp, mana and gold unless a rule says so, but everything else [5.8c]', () => {
    const change = { inventory: ['crown'], hp: 99, mana: 5, gold: 1_000, mood: 'glad', fame: { town: 1 } };
    expect(patchOf([], change)).toEqual({ mood: 'glad', fame: { town: 1 } });
    expect(patchOf([model('hp', { max: 20 })], { hp: 12, gold: 5 })).toEqual({ hp: 12 });
    expect(patchOf([], { hp: null, inventory: { crown: 1 } })).toEqual({});
  });

  it('is judged by the most specific rule [5.8b]', () => {
    const rules = [model('quest'), game('quest.*'), model('quest.told'), game('relationships.*'), model('*.tom')];
    expect(patchOf(rules, { quest: { done: true, told: 2, giver: null }, relationships: { tom: 4, eve: 1 } })).toEqual({
      quest: { told: 2 },
    });
    expect(patchOf([game('quest'), model('quest.giver.name')], { quest: { giver: { name: 'Eve', age: 3 } } })).toEqual({
      quest: { giver: { name: 'Eve' } },
    });
  });

  it('cannot replace an object or an array that holds what the game writes [5.8e, 5.8f]', () => {
    expect(breaksOf([game('bag.*.qty')], { bag: [{ id: 'key', qty: 9 }] })).toEqual([
      ['bag', 'leave_out', 'It holds bag.*.qty: Only the game changes it.'],
    ]);
    expect(patchOf([game('bag.*.qty')], { bag: [{ id: 'door key', qty: 1 }] })).toEqual({
      bag: [{ id: 'door key', qty: 1 }],
    });
    expect(patchOf([game('bag.*.qty')], { bag: null })).toEqual({});
    expect(patchOf([game('bag.*.qty')], { bag: { a: 1 } })).toEqual({});
  });

  it.each<[string, JsonObject]>([
    ['where there was nothing', { vault: [{ open: true }] }],
    ['in another list', { vault: [[{ open: true }]] }],
    ['in place of an object without it', { relationships: [{ eve: true }] }],
    ['around the names before it', { doors: [{ north: { open: true } }] }],
    ['below a new object', { house: { doors: [{ north: { open: true } }] } }],
    ['as another element', { bag: [{ id: 'key', qty: 1 }, { qty: 9 }] }],
    ['as another value of an element', { bag: [{ id: 'key', qty: 2 }] }],
    ['by removing it from a list', { bag: [{ id: 'key' }] }],
  ])('cannot write what the game writes in a list, through which conditions look: %s [5.8b, 5.8f]', (_, change) => {
    const paths = ['vault.open', 'relationships.eve', 'doors.*.open', 'house.doors.north.open', 'bag.qty'];
    const rules = paths.map((path) => game(path));
    expect(judgeChange(rules, data, change)).toMatchObject({ patch: {}, breaks: [{}] });
    expect(patchOf(rules, { bag: [{ id: 'door key', qty: 1 }, { id: 'rope' }], vault: [{ shut: true }] })).toEqual({
      ...{ bag: [{ id: 'door key', qty: 1 }, { id: 'rope' }], vault: [{ shut: true }] },
    });
  });

  it.each<[Partial<StateRule>, Json, string | null]>([
    [{ type: 'string' }, 'glad', null],
    [{ type: 'string' }, 3, 'It must be of the type string.'],
    [{ type: 'integer' }, 3.5, 'It must be of the type integer.'],
    [{ type: 'array' }, {}, 'It must be of the type array.'],
    [{ type: 'object' }, [], 'It must be of the type object.'],
    [{ values: ['calm', 'angry'] }, 'angry', null],
    [{ values: ['calm', 'angry'] }, 'Angry', 'It is not one of the allowed values.'],
    [{ min: 0 }, -1, 'It must be at least 0.'],
    [{ max: 5 }, 6, 'It must be at most 5.'],
    [{ max: 5 }, 'much', 'It must be a number.'],
    [{ step: 2 }, 2, null],
    [{ step: 2 }, 3, 'It may change by at most 2 at once.'],
    [{}, null, 'It may not be removed.'],
    [{ optional: true }, null, null],
  ])('must fit the rule of its member: %j, %j [5.8d]', (members, value, reason) => {
    const judged = judgeChange([model('mood', members)], data, { mood: value });
    expect(judged.breaks.map((broken) => broken.reason)).toEqual(reason === null ? [] : [reason]);
    expect(judged.patch).toEqual(reason === null ? { mood: value } : {});
  });

  it('steps from the value that the member has [5.8d]', () => {
    const rules = [model('relationships.*', { min: -10, max: 10, step: 1 })];
    expect(patchOf(rules, { relationships: { tom: 4, eve: -1, bob: 2 } })).toEqual({
      relationships: { tom: 4, eve: -1 },
    });
  });

  it('is clamped or refused if its rule says so [5.8g]', () => {
    const clamp = { onBreak: 'clamp', type: 'integer', min: -10, max: 10, step: 2 } as const;
    expect(
      judgeChange([model('relationships.*', clamp)], data, { relationships: { tom: 99, eve: -7, al: 'x' } }),
    ).toEqual({
      patch: { relationships: { tom: 5, eve: -2 } },
      breaks: [
        { path: 'relationships.tom', onBreak: 'clamp', reason: 'It must be at most 10.', instead: 5 },
        { path: 'relationships.eve', onBreak: 'clamp', reason: 'It may change by at most 2 at once.', instead: -2 },
        { path: 'relationships.al', onBreak: 'leave_out', reason: 'It must be of the type integer.' },
      ],
    });
    expect(breaksOf([game('quest.done', { onBreak: 'refuse' })], { quest: null })).toEqual([
      ['quest', 'refuse', 'It holds quest.done: Only the game changes it.'],
    ]);
  });

  it('is not allowed if it replaces more members than can be checked [5.8f]', () => {
    const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`m${String(at)}`, { a: at }]));
    const judged = judgeChange([game('many.*.b')], { many }, { many: null });
    expect(judged.patch).toEqual({});
    expect(judged.breaks[0]?.reason).toBe('It replaces too many members to check.');
  });

  it('never changes what the game writes, whatever the change is', () => {
    const names = fc.constantFrom('a', 'b', 'c');
    const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<Json>(null, 0, 1, 'x', true),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(names, tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    const object = fc.dictionary(names, value, { maxKeys: 3 });
    const path = fc
      .array(fc.oneof(names, fc.constant('*')), { minLength: 1, maxLength: 3 })
      .map((one) => one.join('.'));
    const at = (root: Json, given: string): readonly Json[] =>
      given
        .split('.')
        .reduce<readonly Json[]>(
          (values, name) =>
            values.flatMap((one) =>
              !isObject(one)
                ? []
                : name === '*'
                  ? Object.values(one)
                  : Object.hasOwn(one, name)
                    ? [one[name] as Json]
                    : [],
            ),
          [root],
        );
    fc.assert(
      fc.property(object, object, path, (before, change, owned) => {
        const after = mergePatch(before, judgeChange([game(owned)], before, change).patch);
        expect(at(after, owned)).toEqual(at(before, owned));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is applied unchanged if no rule is concerned', () => {
    const rules = [game('elsewhere.x')];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 2 })), (change) => {
        const before = { a: { b: 1 } };
        const judged = judgeChange(rules, before, change as JsonObject);
        expect(judged.breaks).toEqual([]);
        expect(mergePatch(before, judged.patch)).toEqual(mergePatch(before, change as JsonObject));
      }),
    );
  });
});
