import { describe, expect, it } from 'vitest';

import { inVersion } from '../../../../src/features/cards/domain/card-versions.js';
import { loreOf } from '../../../../src/features/cards/domain/lore.js';
import { currentCard } from '../../../../src/features/cards/domain/mind-card.js';
import { personaOf } from '../../../../src/features/cards/domain/persona.js';
import { readCard } from '../../../../src/features/cards/domain/read-card.js';
import type { Json } from '../../../../src/kernel/base/json.js';
import { agnaiCard, v1Card } from './cards.js';

const LAMP = { name: 'l', entry: 'It is old.', keywords: ['lamp'], priority: 1, weight: 1, enabled: true };
const PYGMALION = {
  char_name: 'Orla',
  char_persona: 'Keeps the lamp.',
  world_scenario: 'At sea.',
  char_greeting: 'Hi',
};

describe('a character of Agnai', () => {
  it('is read under its own names, without the note for readers [8.9x]', () => {
    const content = agnaiCard([LAMP, { ...LAMP, entry: 'Never told.', enabled: false }]);
    const card = readCard(content);
    expect(card).toMatchObject({ version: 1, name: 'Orla', content });
    expect(personaOf(card)).toBe(
      'Name: Orla\n\njob: lamp keeper\nmind: calm, dry\n\nScenario: At sea.\n\nInstructions: Stay calm.',
    );
    expect(loreOf(card)).toMatchObject({ left: 1, memories: [{ text: 'lamp: It is old.' }] });
  });

  it.each<[string, Json, string | null]>([
    ['a text', { kind: 'text', attributes: { text: ['Keeps', 'the lamp.'] } }, 'Keeps\nthe lamp.'],
    ['a plain string', 'Keeps the lamp.', 'Keeps the lamp.'],
    ['attributes in strings', { kind: 'wpp', attributes: { job: 'keeper', none: [] } }, 'job: keeper'],
    ['nothing', { kind: 'text', attributes: {} }, null],
  ])('has a persona that is %s [8.9x]', (_, persona, expected) => {
    const read = personaOf(readCard({ kind: 'character', name: 'Orla', persona }));
    expect(read).toBe(expected === null ? null : `Name: Orla\n\n${expected}`);
  });

  it('needs no kind, and becomes a card with the members of V2 [8.9o, 8.9x]', () => {
    const { kind: _, ...content } = agnaiCard([LAMP, null]);
    expect(inVersion(readCard(content), 2)).toMatchObject({
      spec: 'chara_card_v2',
      data: {
        name: 'Orla',
        description: 'job: lamp keeper\nmind: calm, dry',
        creator_notes: 'Made for a contest; rate me.',
        first_mes: 'Hi',
        character_book: { entries: [{ keys: ['lamp'], content: 'It is old.', enabled: true, insertion_order: 1 }] },
      },
    });
    expect(currentCard(readCard(content), 'Another.').content).toMatchObject({ description: 'Another.' });
  });
});

describe('a character of Pygmalion', () => {
  it('is read under its own names [8.9x]', () => {
    const card = readCard(PYGMALION);
    expect(card).toMatchObject({ version: 1, name: 'Orla', content: PYGMALION });
    expect(personaOf(card)).toBe('Name: Orla\n\nKeeps the lamp.\n\nScenario: At sea.');
    expect(inVersion(card, 3)).toMatchObject({
      data: { name: 'Orla', description: 'Keeps the lamp.', first_mes: 'Hi' },
    });
  });

  it('fills the empty members of V1 in the same file, and no others [8.9x]', () => {
    const both = { ...v1Card, ...PYGMALION, scenario: 'Winter.', description: '' };
    expect(readCard(both)).toMatchObject({ name: 'Mira', description: 'Keeps the lamp.', scenario: 'Winter.' });
  });
});

describe('a book that is exported in another version', () => {
  it('switches nothing on, and has its entries in a list [8.9o]', () => {
    const entries = { 0: { key: ['lamp'], content: 'A secret.', disable: true, order: 3 }, 1: null };
    const card = readCard({ ...v1Card, character_book: { entries } });
    for (const version of [2, 3] as const) {
      expect(inVersion(card, version)).toMatchObject({
        data: { character_book: { entries: [{ keys: ['lamp'], enabled: false, insertion_order: 3 }] } },
      });
    }
  });
});
