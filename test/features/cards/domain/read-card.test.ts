import { describe, expect, it } from 'vitest';

import { charsWithNames, personaOf, withNames } from '../../../../src/features/cards/domain/persona.js';
import { readCard } from '../../../../src/features/cards/domain/read-card.js';
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
  ] as const)('of version %i is read, and kept as it came', (version, content) => {
    expect(readCard(content)).toMatchObject({ version, content, name: 'Mira' });
  });

  it('is read with nothing but a name; null counts as absent', () => {
    const card = readCard({ spec: 'chara_card_v2', data: { name: ' Mira ', description: null, character_book: null } });
    expect(card).toMatchObject({ name: 'Mira', calledName: 'Mira', description: '', entries: [] });
    expect(personaOf(card)).toBeNull();
  });

  it.each<[string, Json, string, string]>([
    ['no object', [v1Card], '', 'must be an object'],
    ['something else', { hello: 1 }, '/spec', 'must be chara_card_v2 or chara_card_v3'],
    ['a book alone', { spec: 'lorebook_v3', data: {} }, '/spec', 'must be chara_card_v2 or chara_card_v3'],
    [
      'a spec that every object has',
      { spec: 'constructor', data: {} },
      '/spec',
      'must be chara_card_v2 or chara_card_v3',
    ],
    ['no data', { spec: 'chara_card_v2' }, '/data', 'must be an object'],
    ['no name', v2Card({ name: ' ' }), '/data/name', 'must be a string that is not empty'],
    ['a name without end', flat({ name: 'x'.repeat(129) }), '/name', 'must have at most 128 characters'],
    ['another description', v2Card({ description: 7 }), '/data/description', 'must be a string'],
    [
      'a book that is none',
      flat({ character_book: [] }),
      '/character_book',
      'must be an object with an array "entries"',
    ],
    [
      'an entry that is none',
      flat({ character_book: { entries: [7] } }),
      '/character_book/entries/0',
      'must be an object',
    ],
    [
      'an entry of something else',
      flat({ character_book: { entries: [{}, { content: 7 }] } }),
      '/character_book/entries/1/content',
      'must be a string',
    ],
  ])('is not %s', (_, json, pointer, message) => {
    expect(issuesOf(json)).toContainEqual([pointer, message]);
  });

  it('is refused with fifty problems at most', () => {
    const entries: Json[] = Array.from({ length: 90 }, () => 7);
    const unseen = (): never => {
      throw new Error('more was looked at');
    };
    Object.defineProperty(entries, 50, { get: unseen });
    expect(issuesOf(flat({ character_book: { entries } }))).toHaveLength(50);
  });
});

describe('the persona of a card', () => {
  it('is made of who it is, what it is like, where it is and how it is to act [8.9d]', () => {
    expect(personaOf(readCard(v2Card()))).toBe(
      'Mira keeps the inn. She knows the player.\n\nPersonality: Calm, dry.\n\nScenario: Winter has come.\n\nInstructions: Stay in character.',
    );
  });

  it('names whom nothing else names, by the nickname if there is one [8.9d]', () => {
    expect(personaOf(readCard(v1Card))).toBe('Name: Mira\n\nKeeps the inn.');
    const nicknamed = v3Card({ description: '{{CHAR}} and <Bot>.', personality: '', scenario: '', system_prompt: '' });
    expect(personaOf(readCard(nicknamed))).toBe('Mi and Mi.');
  });

  it('keeps macros that it does not know, and does not replace what replaces', () => {
    const card = readCard(flat({ name: '{{user}} $& {{char}}' }));
    expect(withNames('{{random:a,b}} {{char}} <START>', card)).toBe('{{random:a,b}} {{user}} $& {{char}} <START>');
  });

  it('is as long as was reckoned before anything was replaced', () => {
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
