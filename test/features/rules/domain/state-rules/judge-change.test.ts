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

  it.each<[string, JsonObject]>([
    ['where there was nothing', { vault: { 0: { open: true } } }],
    ['deeper', { vault: { 0: { 1: { open: true } } } }],
    ['in place of a list', { chests: { 0: { open: true } } }],
    ['in a list', { vault: [{ 0: { open: true } }] }],
    ['around the names before it', { doors: { 12: { north: { open: true } } } }],
    ['as another value', { slots: { 1: { qty: 2 } } }],
    ['by removing it', { slots: { 1: { qty: null } } }],
    ['by removing what is around it', { slots: { 1: null } }],
    ['as an object below its name', { vault: { 0: { open: { yes: true } } } }],
  ])('cannot write what the game writes below a name that is an index: %s [5.8b]', (_, change) => {
    const paths = ['vault.open', 'chests.open', 'doors.*.open', 'slots.qty'];
    const before = { ...data, chests: [], slots: { 1: { qty: 1, note: 'old' } } };
    const rules = paths.map((path) => game(path));
    expect(judgeChange(rules, before, change)).toMatchObject({ patch: {}, breaks: [{}] });
    const free = { vault: { 0: { shut: true }, '01': { open: true } }, slots: { 1: { note: 'new', qty: 1 } } };
    expect(judgeChange(rules, before, free)).toEqual({
      patch: { ...free, slots: { 1: { note: 'new' } } },
      breaks: [],
    });
  });

  it('takes no first name of the state for an index, and gives a model no more below one [5.8b]', () => {
    expect(patchOf([], { 0: { hp: 5 } })).toEqual({ 0: { hp: 5 } });
    expect(patchOf([game('vault'), model('vault.notes')], { vault: { 0: { notes: 'mine' } } })).toEqual({});
  });

  it('leaves out what is below more indexes than it looks at [5.8f]', () => {
    const stars = Array.from({ length: 8 }, (_, depth) => game(`vault${'.*'.repeat(depth)}.open`));
    const slot = Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [at, at]));
    const { breaks } = judgeChange(stars.slice(0, 7), data, { vault: { a: { 0: { 0: slot } } } });
    expect(breaks.map(({ reason }) => reason)).toContain('It replaces too many members to check.');
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

  it('creates what is missing around a member of the model, with nothing else in it [5.8b, 5.8j]', () => {
    const rules = [game('*'), model('story.notes'), model('story.parts.*.title', { max: 5 })];
    expect(judgeChange(rules, data, { story: { notes: 'x' } })).toEqual({
      patch: { story: { notes: 'x' } },
      breaks: [],
    });
    expect(judgeChange(rules, { story: null }, { story: { notes: 'x' } }).breaks).toEqual([]);
    const greedy = { story: { notes: 'x', done: true, parts: { a: { title: 2, gold: 5 }, b: 1 } }, fame: { town: 1 } };
    expect(judgeChange(rules, data, greedy)).toEqual({
      patch: { story: { notes: 'x', parts: { a: { title: 2 } } } },
      breaks: ['story.done', 'story.parts.a.gold', 'story.parts.b', 'fame'].map((path) => ({
        ...{ path, onBreak: 'leave_out', reason: 'Only the game changes it.' },
      })),
    });
  });

  it.each<[title: string, before: JsonObject, change: JsonObject]>([
    ['an empty object', {}, { story: {} }],
    ['an object of nothing', {}, { story: { notes: null } }],
    ['an object with only what the game writes', {}, { story: { done: true } }],
    ['an object in place of a text', { story: 'none' }, { story: { notes: 'x' } }],
    ['an object in place of a list', { story: [] }, { story: { notes: 'x' } }],
    ['a list', {}, { story: [{ notes: 'x' }] }],
  ])('creates nothing else that the game writes: %s [5.8j]', (_, before, change) => {
    const judged = judgeChange([game('*'), model('story.notes')], before, change);
    expect(judged).toMatchObject({ patch: {}, breaks: [{ reason: 'Only the game changes it.' }] });
  });

  it('is judged in a list by the most specific rule, too [5.8b]', () => {
    const rules = [game('bag.*'), model('bag.note', { optional: true }), model('*.note')];
    const bag = [{ id: 'key', note: 'rusty' }];
    expect(judgeChange(rules, { bag: { a: { id: 'key' }, note: 'x' } }, { bag: null }).patch).toEqual({});
    expect(
      judgeChange([game('bag.id'), model('bag.note')], { bag }, { bag: [{ id: 'key', note: 'old' }] }).breaks,
    ).toEqual([]);
    expect(
      judgeChange([game('bag.id'), model('bag.note')], { bag }, { bag: [{ id: 'gem', note: 'rusty' }] }).patch,
    ).toEqual({});
    expect(judgeChange(rules, { bag: { note: 'x' } }, { bag: null }).patch).toEqual({ bag: null });
  });

  it('looks at a replaced member once, however many rules are about it [5.8f]', () => {
    const many = Object.fromEntries(Array.from({ length: 4_900 }, (_, at) => [`m${String(at)}`, { a: at }]));
    const rules = Array.from({ length: 64 }, (_, at) => game(`many.*.b${String(at)}`));
    expect(judgeChange(rules.slice(0, 1), { many }, { many: null }).patch).toEqual({ many: null });
    expect(judgeChange(rules, { many: { ...many, last: { b63: 1 } } }, { many: null }).breaks).toEqual([
      { path: 'many', onBreak: 'leave_out', reason: 'It holds many.*.b63: Only the game changes it.' },
    ]);
  });

  it('changes no value whose most specific rule is the game’s, whatever the change and the rules are [5.8b, 5.8c]', () => {
    const names = fc.constantFrom('a', 'b', 'c');
    const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<Json>(0, 1, 'x', true, []),
        fc.dictionary(names, tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    const object = fc.dictionary(names, value, { maxKeys: 3 });
    const patch = fc.dictionary(names, fc.oneof(fc.constant(null), value), { maxKeys: 3 });
    const path = fc
      .array(fc.oneof(names, fc.constant('*')), { minLength: 1, maxLength: 3 })
      .map((one) => one.join('.'));
    const rule = fc
      .tuple(path, fc.boolean())
      .map(([at, isGame]) => (isGame ? game(at) : model(at, { optional: true })));
    /** What is no object, by its names. */
    const leaves = (given: Json, at: readonly string[] = []): readonly (readonly [string, Json])[] =>
      isObject(given)
        ? Object.entries(given).flatMap(([name, member]) => leaves(member, [...at, name]))
        : [[at.join('.'), given]];
    const isOfGame = (rules: readonly StateRule[], at: string): boolean => {
      const place = at.split('.');
      const covering = rules
        .map((one) => ({ ...one, names: one.path.split('.') }))
        .filter(({ names: list }) =>
          list.every((name, index) => name === place[index] || (name === '*' && index < place.length)),
        );
      const most = (one: (typeof covering)[number]): number =>
        one.names.length * 10 - one.names.filter((name) => name === '*').length;
      return covering.toSorted((one, other) => most(other) - most(one))[0]?.writer === 'game';
    };
    fc.assert(
      fc.property(
        object,
        patch,
        fc.uniqueArray(rule, { maxLength: 5, selector: (one) => one.path }),
        (before, change, rules) => {
          const after = mergePatch(before, judgeChange(rules, before, change).patch);
          const owned = (given: Json) => leaves(given).filter(([at]) => isOfGame(rules, at));
          expect(new Map(owned(after))).toEqual(new Map(owned(before)));
        },
      ),
      { numRuns: 3_000 },
    );
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
