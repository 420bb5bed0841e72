import { describe, expect, it } from 'vitest';

import { LORE_MEMORIES, loreOf, undecorated } from '../../../../src/features/cards/domain/lore.js';
import { readCard } from '../../../../src/features/cards/domain/read-card.js';
import { MEMORY_BYTES, METADATA_BYTES } from '../../../../src/features/npcs/domain/recorded-bytes.js';
import { type Json, jsonBytes, type JsonObject } from '../../../../src/kernel/base/json.js';
import { v1Card, v2Card, v3Card } from './cards.js';

const lore = (...entries: readonly JsonObject[]) =>
  loreOf(readCard({ ...v1Card, character_book: { entries: entries.map((entry) => ({ content: 'x', ...entry })) } }));
const importances = (...entries: readonly JsonObject[]) =>
  lore(...entries).memories.map(({ importance }) => importance);
const textsOf = (entry: JsonObject) => lore(entry).memories.map(({ text }) => text);

describe('the lore of a card', () => {
  it('is one memory for each enabled entry with content [8.9e, 8.9f, 8.9g]', () => {
    const card = { card: 'Mira' };
    expect(loreOf(readCard(v2Card()))).toEqual({
      left: 2,
      disabled: 1,
      memories: [
        {
          text: 'The gate is old.',
          type: 'knowledge',
          importance: 0.5,
          metadata: { ...card, entry: 0, keys: ['gate'], insertion_order: 10 },
        },
        {
          text: 'ford, river: It froze over.',
          type: 'knowledge',
          importance: 0.7,
          metadata: { ...card, entry: 1, keys: ['ford', 'river'], insertion_order: 50 },
        },
        {
          text: 'There is a war.',
          type: 'knowledge',
          importance: 1,
          metadata: { ...card, entry: 3, keys: [], constant: true, insertion_order: 30 },
        },
      ],
    });
  });

  it.each([
    ['@@dont_activate', 0, undefined],
    ['@@activate', 1, 1],
    ['@@dont_activate\n@@activate', 1, 1],
    ['@@Dont_Activate\n@@depth 4', 0, undefined],
    ['@@unknown\n@@@dont_activate', 0, undefined],
    ['@@unknown\n@@@depth 2\n@@@activate', 1, 1],
    ['@@activate\n@@@dont_activate', 1, 1],
    ['@@dont_activate_after_match', 1, 0.7],
    ['@@depth 4', 1, 0.7],
  ])('obeys the decorators that say always and never: %j [8.9ab]', (decorators, count, importance) => {
    const { memories, left } = lore({ content: `${decorators}\nThe gate is old.` });
    expect([memories.length, left, memories[0]?.importance]).toEqual([count, 1 - count, importance]);
    expect(memories.map(({ text }) => text)).toEqual(count === 0 ? [] : ['The gate is old.']);
  });

  it('excludes decorators from the text of a memory [8.9e]', () => {
    const [memory] = loreOf(readCard(v3Card())).memories;
    expect(memory).toMatchObject({
      text: 'Mi swore an oath.\n@@not one',
      metadata: { priority: 5, decorators: ['@@depth 4', '@@@role system'] },
    });
    expect(undecorated('@@constant\n')).toEqual({ text: '', decorators: ['@@constant'] });
    expect(undecorated('\r\n@@depth 1\r\nText\r\nmore')).toEqual({ text: 'Text\nmore', decorators: ['@@depth 1'] });
    expect(undecorated('  no @@decorator')).toEqual({ text: '  no @@decorator', decorators: [] });
  });

  it('weighs entries within their book, by priority if given [8.9f]', () => {
    expect(importances({ insertion_order: 0 }, { insertion_order: 100 }, { insertion_order: 25 })).toEqual([
      0.5, 0.9, 0.6,
    ]);
    expect(importances({ insertion_order: 9, priority: 1 }, { insertion_order: 1, priority: 2 }, {})).toEqual([
      0.5, 0.9, 0.7,
    ]);
    expect(importances({ insertion_order: 7 }, { insertion_order: 7 })).toEqual([0.7, 0.7]);
    expect(importances({ priority: -1e308 }, { priority: 1e308 }, { priority: 0 })).toEqual([0.5, 0.9, 0.7]);
    expect(importances({ priority: 'high' }, { constant: 'perhaps' })).toEqual([0.7, 0.7]);
    expect(importances({ priority: '1' }, { priority: '2' }, { constant: 'yes' })).toEqual([0.5, 0.9, 1]);
  });

  it('puts keys in front of a text that contains none of them, unless they are patterns', () => {
    expect(textsOf({ content: 'They howl.', keys: [' wolf ', '', 'wolves', '/wol[fv]/i'] })).toEqual([
      'wolf, wolves: They howl.',
    ]);
    expect(textsOf({ content: 'The WOLF howls.', keys: ['beast', 'wolf'] })).toEqual(['The WOLF howls.']);
    expect(textsOf({ content: 'It howls.', keys: ['wol[fv]'], use_regex: true })).toEqual(['It howls.']);
    for (const keys of [['lamp', 'light'], ['/lamp|light/i'], ['\\blamp\\b', 'light'], ['lamp|light']]) {
      expect(textsOf({ content: 'It burns.', keys, use_regex: true })).toEqual(['lamp, light: It burns.']);
    }
    expect(textsOf({ content: 'It burns.', keys: ['Dr. Lamp', 'lamp|light'] })).toEqual([
      'Dr. Lamp, lamp|light: It burns.',
    ]);
    expect(textsOf({ content: 'It burns.', keys: ['(a+)+$', '/(a+)+$/'], use_regex: true })).toEqual(['It burns.']);
    expect(textsOf({ content: 'Keeps it.', keys: ['{{char}}'] })).toEqual(['Mira: Keeps it.']);
  });

  it('splits a long entry at a paragraph, line or word, and loses no word [8.9e]', () => {
    for (const [between, unit] of [
      ['\n\n', 'é wörd\n'],
      ['\n', 'some words '],
      [' ', 'words'],
    ] as const) {
      const content = Array.from(
        { length: 9 },
        (_, at) => `${String(at)}${unit.repeat(Math.floor(2_000 / unit.length))}`,
      ).join(between);
      const { memories } = lore({ content, keys: ['nothing of it'] });
      expect(memories.length).toBeGreaterThan(2);
      expect(memories.map(({ metadata }) => metadata?.['part'])).toEqual(memories.map((_, at) => at + 1));
      for (const { text } of memories) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MEMORY_BYTES);
      const told = memories.map(({ text }) => text.replace('nothing of it: ', '')).join(between);
      expect(told.split(/\s+/)).toEqual(content.trim().split(/\s+/));
    }
    const endless = lore({ content: '\u{1f600}'.repeat(5_000) }).memories;
    expect(endless.map(({ text }) => text).join('')).toBe('\u{1f600}'.repeat(5_000));
  });

  it('stops growing at the limit of one card', () => {
    expect(lore(...Array.from({ length: LORE_MEMORIES }, () => ({}))).memories).toHaveLength(LORE_MEMORIES);
    const tooLarge = lore(...Array.from({ length: 10 * LORE_MEMORIES }, () => ({})));
    expect(tooLarge.memories).toHaveLength(LORE_MEMORIES + 1);
  });

  it('fits into memories whatever the card contains', () => {
    const long: Json = '"'.repeat(20_000);
    const keys = Array.from({ length: 5_000 }, (_, at) => `key ${String(at)}`);
    const { memories } = lore({ content: 'x', keys, secondary_keys: keys, name: long, comment: long, position: long });
    expect(memories).toHaveLength(1);
    for (const { text, metadata } of memories) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MEMORY_BYTES);
      expect(jsonBytes(metadata as JsonObject)).toBeLessThanOrEqual(METADATA_BYTES);
    }
    // In compatibility form each of these is eighteen characters.
    const grown = lore({ content: 'x', keys: ['ﷺ'.repeat(1_000)] });
    expect(grown.memories[0]?.metadata).toEqual({ card: 'Mira', entry: 0 });
    const decorated = lore({ content: `${'@@depth 4\n'.repeat(9_000)}It is.` });
    expect(jsonBytes(decorated.memories[0]?.metadata as JsonObject)).toBeLessThanOrEqual(METADATA_BYTES);
  });
});
