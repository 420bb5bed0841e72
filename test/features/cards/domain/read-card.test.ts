import { describe, expect, it } from 'vitest';

import { charsWithNames, personaOf, withNames } from '../../../../src/features/cards/domain/persona.js';
import { MAX_WARNINGS, readCard, readRecordedCard } from '../../../../src/features/cards/domain/read-card.js';
import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import { v1Card, v2Card, v3Card } from './cards.js';

const issuesOf = (json: Json): readonly (readonly [unknown, unknown])[] => {
  try {
    readCard(json);
  } catch (thrown) {
    if (!(thrown instanceof Rejection)) throw thrown;
    expect(thrown.code).toBe('CARD_INVALID');
    const issues = thrown.details['issues'] as readonly JsonObject[];
    return issues.map(({ pointer, message }) => [pointer, message]);
  }
  throw new Error('nothing was refused');
};
const flat = (over: JsonObject): JsonObject => ({ ...v1Card, ...over });

describe('a character card', () => {
  it.each([
    [1, v1Card],
    [2, v2Card()],
    [3, v3Card()],
    [3, { ...v3Card(), spec_version: '3.1' }],
  ] as const)('of version %i is read and kept unchanged [8.9a]', (version, content) => {
    expect(readCard(content)).toMatchObject({ version, content, name: 'Mira' });
  });

  it('may be flat with two of its texts [8.9a]', () => {
    expect(readCard({ name: 'Mira', description: 'Keeps the inn.', first_mes: '' })).toMatchObject({ version: 1 });
    expect(readRecordedCard({ name: 'Mira', description: 'Keeps the inn.' })).toMatchObject({ version: 1 });
  });

  it('needs only a name; null counts as absent', () => {
    const card = readCard({ spec: 'chara_card_v2', data: { name: ' Mira ', description: null, character_book: null } });
    expect(card).toMatchObject({ name: 'Mira', calledName: 'Mira', description: '', entries: [] });
    expect(personaOf(card)).toBeNull();
  });

  it.each<[string, Json, string, string]>([
    ['no object', [v1Card], '', 'must be an object'],
    ['something else', { hello: 1 }, '/spec', 'must be chara_card_v2 or chara_card_v3'],
    [
      'a spec that is a prototype property',
      { spec: 'constructor', data: {} },
      '/spec',
      'must be chara_card_v2 or chara_card_v3',
    ],
    [
      'a package of Node',
      { name: 'anima', version: '1.0.0', description: 'The mind of NPCs.', scripts: {} },
      '',
      'must be a character card: a card has "spec", or at least 2 of the texts description, personality, scenario, first_mes, mes_example',
    ],
    ['no data', { spec: 'chara_card_v2' }, '/data', 'must be an object'],
    ['no name', v2Card({ name: ' ' }), '/data/name', 'must be a string that is not empty'],
    ['an unbounded name', flat({ name: 'x'.repeat(129) }), '/name', 'must have at most 128 characters'],
    ['another description', v2Card({ description: 7 }), '/data/description', 'must be a string'],
    [
      'an invalid book',
      flat({ character_book: [] }),
      '/character_book',
      'must be an object with "entries", a list or a map',
    ],
    [
      'a book without end',
      flat({ character_book: { entries: Array.from({ length: 5_001 }, () => null) } }),
      '/character_book/entries',
      'must have at most 5000 entries',
    ],
    [
      'an Agnai character with an endless book',
      { kind: 'character', name: 'Orla', characterBook: { entries: Array.from({ length: 5_001 }, () => null) } },
      '/characterBook/entries',
      'must have at most 5000 entries',
    ],
    [
      'an Agnai character with another persona',
      { kind: 'character', name: 'Orla', persona: 7 },
      '/persona',
      'must be a string',
    ],
    [
      'a Pygmalion character without a name',
      { char_persona: 'Calm.', char_name: '' },
      '/char_name',
      'must be a string that is not empty',
    ],
  ])('is not %s', (_, json, pointer, message) => {
    expect(issuesOf(json)).toContainEqual([pointer, message]);
  });

  it('lists at most fifty warnings, and keeps the entries that can be read [8.9w]', () => {
    const entries: Json[] = [...Array.from({ length: 90 }, () => 7), { content: 'The lamp is old.' }];
    const card = readCard(flat({ character_book: { entries } }));
    expect(card.warnings).toHaveLength(MAX_WARNINGS);
    expect(card.warnings[49]).toEqual({
      pointer: '/character_book/entries/49',
      message: 'must be an object; the entry was left out',
    });
    expect(card.entries[90]).toMatchObject({ enabled: true, content: 'The lamp is old.' });
  });

  it('may have its entries in a map, under any name [8.9u, 8.9w]', () => {
    const entries = { 0: { content: 'a' }, constructor: { content: 'b' }, 'x/y~z': null };
    const { entries: read, warnings } = readCard(v2Card({ character_book: { entries } }));
    expect(read.map(({ content }) => content)).toEqual(['a', 'b', '']);
    expect(warnings).toEqual([
      {
        pointer: '/data/character_book/entries/x~1y~0z',
        message: 'must be an object, not null; the entry was left out',
      },
    ]);
  });

  it('has an endless book only if it was recorded before there was a limit', () => {
    const card = flat({ character_book: { entries: Array.from({ length: 5_001 }, () => ({})) } });
    expect(readRecordedCard(card).entries).toHaveLength(5_001);
  });
});

describe('the persona of a card', () => {
  it('is made of the description, personality, scenario and instructions [8.9d]', () => {
    expect(personaOf(readCard(v2Card()))).toBe(
      'Mira keeps the inn. She knows the player.\n\nPersonality: Calm, dry.\n\nScenario: Winter has come.\n\nInstructions: Stay in character.',
    );
  });

  it('adds the name if no text contains it, preferring the nickname [8.9d]', () => {
    expect(personaOf(readCard(v1Card))).toBe('Name: Mira\n\nKeeps the inn.');
    const nicknamed = v3Card({ description: '{{CHAR}} and <Bot>.', personality: '', scenario: '', system_prompt: '' });
    expect(personaOf(readCard(nicknamed))).toBe('Mi and Mi.');
  });

  it('has the names of the character and the player in place of their macros, and no comments [8.9d]', () => {
    const card = readCard(flat({ nickname: 'Mi' }));
    const text = '{{char}}, <char>, <bot>; {{user}}, <user>; {{original}}{{// an idea }}.';
    expect(withNames(text, card)).toBe('Mi, Mi, Mi; the player, the player; .');
    expect(withNames('{{char}}', readCard(v1Card))).toBe('Mira');
  });

  it('keeps unknown macros, and does not expand replaced text', () => {
    const card = readCard(flat({ name: '{{user}} $& {{char}}' }));
    expect(withNames('{{random:a,b}} {{char}} <START>', card)).toBe('{{random:a,b}} {{user}} $& {{char}} <START>');
  });

  it('has exactly the length that is computed before replacement', () => {
    const card = readCard(flat({ nickname: 'Mira of the inn' }));
    for (const text of [
      '',
      'No macro.',
      '{{char}} <BOT> {{user}}<user>{{original}}{{// an idea }}{{random:a}}{{char}',
    ]) {
      expect(charsWithNames(text, card)).toBe(withNames(text, card).length);
    }
  });
});
