import { describe, expect, it } from 'vitest';

import { forOldReaders, type GivenVersion, inVersion } from '../../../../src/features/cards/domain/card-versions.js';
import { loreOf } from '../../../../src/features/cards/domain/lore.js';
import { currentCard, madeCard, ownVersion } from '../../../../src/features/cards/domain/mind-card.js';
import { personaOf } from '../../../../src/features/cards/domain/persona.js';
import { readCard } from '../../../../src/features/cards/domain/read-card.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { v1Card, v2Card, v3Card } from './cards.js';

const shown = (content: JsonObject, version: GivenVersion): JsonObject => inVersion(readCard(content), version);
const dataOf = (card: JsonObject): JsonObject => card['data'] as JsonObject;
const entriesOf = (card: JsonObject): readonly JsonObject[] =>
  (dataOf(card)['character_book'] as { entries: readonly JsonObject[] }).entries;

describe('exporting a card', () => {
  it.each([
    [2, v2Card()],
    [3, v3Card()],
    [3, { ...v3Card(), spec_version: '3.7', more: [null] }],
  ] as const)('in its own version %i returns it unchanged [8.9o]', (version, content) => {
    expect(shown(content, version)).toEqual(content);
  });

  it('in a later version keeps its members and adds the required ones [8.9o]', () => {
    const v3 = shown(v2Card(), 3);
    expect(v3).toMatchObject({ spec: 'chara_card_v3', spec_version: '3.0', create_date: '2024-02-03 @10h' });
    const { character_book: book, ...others } = dataOf(v2Card());
    expect(dataOf(v3)).toMatchObject({ ...others, group_only_greetings: [] });
    expect(entriesOf(v3)).toEqual(
      (book as { entries: readonly JsonObject[] }).entries.map((entry) => ({ use_regex: false, ...entry })),
    );
  });

  it('in an earlier version keeps its members and drops decorators [8.9o, 8.9r]', () => {
    const v2 = shown(v3Card(), 2);
    expect(v2).toMatchObject({ spec: 'chara_card_v2', spec_version: '2.0', data: { nickname: 'Mi', extensions: {} } });
    expect(entriesOf(v2)[0]?.['content']).toBe('{{char}} swore an oath.\n@@not one');
    expect(dataOf(forOldReaders(readCard(v3Card())))['creator_notes']).toMatch(
      /^This is a Character Card V3.*\n\nBest at low temperatures\.$/s,
    );
  });

  it('from a flat card keeps all members [8.9o]', () => {
    for (const version of [2, 3] as const) {
      expect(dataOf(shown(v1Card, version))).toMatchObject({ ...v1Card, extensions: {}, alternate_greetings: [] });
    }
    expect([ownVersion(1), ownVersion(2), ownVersion(3)]).toEqual([2, 2, 3]);
  });

  it('uses the defaults of the version for null members', () => {
    const entries = [{ keys: null, content: null, extensions: null, enabled: null, use_regex: null, comment: null }];
    const data = { name: 'M', tags: null, extensions: null, group_only_greetings: null, source: null };
    const card = (spec: string) => ({ spec, data: { ...data, character_book: { extensions: null, entries } } });
    const entry = { keys: [], content: '', extensions: {}, enabled: true, insertion_order: 0 };
    const shared = { tags: [], extensions: {}, source: null, character_book: { extensions: {} } };
    const v3 = shown(card('chara_card_v2'), 3);
    expect(dataOf(v3)).toMatchObject({ ...shared, group_only_greetings: [] });
    expect(entriesOf(v3)).toEqual([{ ...entry, use_regex: false, comment: null }]);
    const v2 = shown(card('chara_card_v3'), 2);
    expect(dataOf(v2)).toMatchObject(shared);
    expect(entriesOf(v2)).toEqual([{ ...entry, use_regex: null, comment: null }]);
  });

  it('leaves a book of unknown form unchanged', () => {
    const odd = { spec: 'chara_card_v2', data: { name: 'M', character_book: { entries: [{ extensions: 7 }] } } };
    expect(entriesOf(shown(odd, 3))[0]).toMatchObject({ keys: [], content: '', enabled: true, extensions: 7 });
  });
});

describe('an imported card in the current state of the mind', () => {
  it.each([v1Card, v2Card(), v3Card()])('is unchanged while the persona is the same', (content) => {
    const card = readCard(content);
    expect(currentCard(card, personaOf(card)).content).toBe(content);
  });

  it.each([v1Card, v2Card(), v3Card()])(
    'has the current persona, and nothing that contradicts it [8.9p]',
    (content) => {
      const now = currentCard(readCard(content), 'Mira keeps nothing.').content;
      const again = readCard(now);
      expect(personaOf(again)).toBe('Mira keeps nothing.');
      expect(again).toMatchObject({ personality: '', scenario: '', systemPrompt: '' });
      expect(loreOf(again)).toEqual(loreOf(readCard(content)));
      expect(now['description'] ?? 'Mira keeps nothing.').toBe('Mira keeps nothing.');
    },
  );
});

describe('the card of a mind that was not imported from one', () => {
  const mind = { npcId: 'npc-7', persona: 'Keeps the inn.', data: { name: 'Mira' } };

  it('has the name, the persona and the memories, and can be imported again', () => {
    const made = madeCard(mind, [
      { text: 'The gate is old.', importance: 0.5, metadata: { keys: ['gate', 7], comment: 'seen' } },
      { text: 'There is a war.', importance: 0.8 },
    ]);
    expect(made).toMatchObject({
      spec: 'chara_card_v3',
      data: { name: 'Mira', description: 'Keeps the inn.', extensions: {} },
    });
    expect(entriesOf(made)).toMatchObject([
      { keys: ['gate'], content: 'The gate is old.', priority: 50, constant: false, comment: 'seen', use_regex: false },
      { keys: [], content: 'There is a war.', priority: 80, constant: true, enabled: true, insertion_order: 1 },
    ]);
    expect(loreOf(readCard(made)).memories.map(({ text }) => text)).toEqual(['The gate is old.', 'There is a war.']);
  });

  it('has a name of legal length, however long the id is', () => {
    const npcId = '🐉'.repeat(128);
    const made = madeCard({ ...mind, npcId, data: null }, []);
    expect(readCard(made).name).toBe(`${'🐉'.repeat(63)}…`);
  });

  it('uses the id as name if no text contains it, and has no book without memories [8.9q]', () => {
    for (const data of [null, {}, { name: '' }, { name: 7 }]) {
      const made = madeCard({ ...mind, persona: null, data }, []);
      expect(dataOf(made)).toMatchObject({ name: 'npc-7', description: '' });
      expect(dataOf(made)).not.toHaveProperty('character_book');
    }
  });
});
