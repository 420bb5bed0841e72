import { describe, expect, it } from 'vitest';

import { readEntry, standardMembers } from '../../../../src/features/cards/domain/lore-entry.js';
import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';

const TEXT = 'Switched off: the lamp is a bomb.';
const isRead = (members: JsonObject): boolean => readEntry({ content: TEXT, ...members }).entry.enabled;
const keysOf = (members: JsonObject): readonly string[] =>
  (standardMembers({ content: TEXT, ...members })['keys'] ?? []) as readonly string[];

describe('an entry of a book', () => {
  it.each<[Json]>([[false], [0], ['false'], ['0'], ['no'], ['off'], [' False ']])(
    'whose flag is %j: enabled says that it is off, and disable that it is on [8.9v]',
    (off) => {
      for (const name of ['enabled', 'enable', 'isEnabled']) expect(isRead({ [name]: off })).toBe(false);
      for (const name of ['disable', 'disabled', 'isDisabled', 'widisabled'])
        expect(isRead({ [name]: off })).toBe(true);
    },
  );

  it.each<[Json]>([[true], [1], ['true'], ['1'], ['yes'], ['on'], ['TRUE']])(
    'whose flag is %j: enabled says that it is on, and disable that it is off [8.9v]',
    (on) => {
      for (const name of ['enabled', 'enable', 'isEnabled']) expect(isRead({ [name]: on })).toBe(true);
      for (const name of ['disable', 'disabled', 'isDisabled', 'widisabled'])
        expect(isRead({ [name]: on })).toBe(false);
    },
  );

  it('is disabled by one word, enabled by none, and left out if its words say neither [8.9v]', () => {
    expect([isRead({}), isRead({ enabled: null, disable: null })]).toEqual([true, true]);
    expect([isRead({ enabled: true, disable: true }), isRead({ enabled: false, disable: false })]).toEqual([
      false,
      false,
    ]);
    for (const enabled of ['perhaps', 2, {}, [], ''] as const) {
      expect(readEntry({ content: TEXT, enabled })).toMatchObject({
        entry: { enabled: false, content: '' },
        warning: expect.stringContaining('whether it is enabled') as string,
      });
    }
  });

  it.each<[string, JsonObject, JsonObject]>([
    [
      'World Info',
      {
        key: ['a', 'b'],
        keysecondary: ['c'],
        content: 'x',
        disable: false,
        order: 7,
        constant: true,
        comment: 'd',
        position: 0,
      },
      {
        keys: ['a', 'b'],
        secondary_keys: ['c'],
        content: 'x',
        enabled: true,
        insertion_order: 7,
        constant: true,
        comment: 'd',
      },
    ],
    [
      'Agnai',
      { name: 'l', entry: 'x', keywords: ['a'], priority: 1, weight: 2, enabled: true },
      { name: 'l', content: 'x', keys: ['a'], priority: 1, insertion_order: 2, enabled: true },
    ],
    [
      'NovelAI',
      { text: 'x', displayName: 'l', keys: ['a'], enabled: false, forceActivation: true },
      { content: 'x', name: 'l', keys: ['a'], enabled: false, constant: true },
    ],
    [
      'RisuAI',
      {
        key: 'a, b',
        secondkey: 'c',
        insertorder: 100,
        content: 'x',
        alwaysActive: false,
        useRegex: true,
        selective: false,
      },
      {
        keys: ['a', 'b'],
        secondary_keys: ['c'],
        insertion_order: 100,
        content: 'x',
        constant: false,
        use_regex: true,
        selective: false,
      },
    ],
    [
      'KoboldAI Lite',
      { key: 'a,b', content: 'x', widisabled: true },
      { keys: ['a', 'b'], content: 'x', enabled: false },
    ],
    ['empty and other names', { keys: [], key: ['a'], content: '', entry: 'x' }, { keys: ['a'], content: 'x' }],
  ])('has the names of %s [8.9u]', (_, entry, members) => {
    expect(standardMembers(entry)).toEqual(members);
  });

  it('has its keys in a list or a text [8.9u]', () => {
    expect(keysOf({ keys: 'lamp, light,, ' })).toEqual(['lamp', 'light']);
    expect(keysOf({ keys: 'lamp\nlight，oil' })).toEqual(['lamp', 'light', 'oil']);
    expect(keysOf({ keys: '/a,b/i, c, /d' })).toEqual(['/a,b/i', 'c', '/d']);
    expect(keysOf({ keys: ['lamp, light', 42, null, {}] })).toEqual(['lamp, light', '42']);
    expect(keysOf({ keys: `${'/a,'.repeat(200_000)}b` }).length).toBeLessThanOrEqual(1_024);
  });

  it('loses only what cannot be read, with a warning [8.9w]', () => {
    for (const entry of [null, 7, 'text', [], { content: 7 }, { entry: [] }] as const) {
      expect(readEntry(entry)).toMatchObject({
        entry: { content: '', enabled: false },
        warning: expect.stringContaining('the entry was left out') as string,
      });
    }
    expect(readEntry({ content: 'x', keys: 7 })).toMatchObject({
      entry: { content: 'x', enabled: true },
      warning: expect.stringContaining('without them') as string,
    });
    expect(readEntry({ content: null })).toMatchObject({ entry: { content: '' }, warning: null });
    expect(readEntry({ constructor: 7, toString: 7 })).toMatchObject({ entry: { content: '' }, warning: null });
  });
});
