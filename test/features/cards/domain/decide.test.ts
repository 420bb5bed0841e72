import { describe, expect, it } from 'vitest';

import { mindFold } from '../../../../src/features/npcs/mind-fold.js';
import { archiveNpc, registerNpc } from '../../../../src/features/npcs/domain/decide.js';
import { importCard, type BroughtCard, type EarlierCard } from '../../../../src/features/cards/domain/decide.js';
import { clearMemories } from '../../../../src/features/memory/domain/decide.js';
import { givenOf } from '../../../support/given.js';
import { memoryStored } from '../../../support/histories.js';

const given = givenOf(mindFold);
const by = { timeMs: Date.parse('2026-01-01T00:00:00.000Z'), commandId: 'command-1' };
const lore = (text: string) => ({ text, type: 'knowledge', importance: 0.7, metadata: { entry: 0 } });
const card: BroughtCard = {
  digest: 'first',
  content: { spec: 'chara_card_v2' },
  persona: 'Keeps the inn.',
  lore: [lore('The gate is old.'), lore('There is a war.')],
};
const brings = { persona: card.persona, card: { digest: card.digest, content: card.content } };
const textsAt = (revision: number, { lore: brought }: BroughtCard): EarlierCard => ({
  revision,
  texts: new Set(brought.map(({ text }) => text)),
});
const unknown = given();
const imported = unknown.when(importCard, card, null, by).and;
const typesOf = (events: readonly { readonly type: string }[] | null) => events?.map(({ type }) => type);
const stored = (events: readonly { readonly type: string; readonly data: object }[] | null) =>
  events?.flatMap(({ type, data }) => (type === 'MemoryStored' ? [(data as { text: string }).text] : []));

describe('the import of a card', () => {
  it('registers a new mind with persona, card and lore, and gives each memory its own id [8.9c]', () => {
    const { events } = unknown.when(importCard, card, null, by);
    expect(events).toMatchObject([
      { type: 'NpcRegistered', data: brings },
      { type: 'MemoryStored', data: card.lore[0] as object },
      { type: 'MemoryStored', data: card.lore[1] as object },
    ]);
    expect(new Set(events?.map(({ data }) => (data as { memoryId?: string }).memoryId)).size).toBe(3);
    expect(imported.state).toMatchObject({ persona: card.persona, data: null, card: { digest: 'first', revision: 0 } });
  });

  it('changes a known mind and keeps its data [8.9c]', () => {
    const known = given({ type: 'NpcRegistered', data: { persona: 'Calm.', data: { hp: 3 } } });
    const { events, and } = known.when(importCard, card, null, by);
    expect(events?.[0]).toEqual({ type: 'NpcUpdated', data: brings });
    expect(and.state).toMatchObject({ persona: card.persona, data: { hp: 3 }, card: { revision: 1 } });
  });

  it('records nothing when the same card is imported again [8.9i]', () => {
    imported.when(importCard, card, null, by).then([]);
    imported.when(importCard, card, textsAt(0, card), by).then([]);
  });

  it('restores only what has changed since: the persona, the archived mind, the memories [8.9i]', () => {
    const changed = imported.when(registerNpc, { persona: 'Sold the inn.' }).and;
    changed.when(importCard, card, null, by).then([{ type: 'NpcUpdated', data: { persona: card.persona } }]);
    imported
      .when(archiveNpc)
      .and.when(importCard, card, null, by)
      .then([{ type: 'NpcUpdated', data: {} }]);
    const { events, and } = imported.when(clearMemories).and.when(importCard, card, textsAt(0, card), by);
    expect(stored(events)).toEqual(card.lore.map(({ text }) => text));
    expect(events?.[0]).toEqual({ type: 'NpcUpdated', data: { card: brings.card } });
    and.when(importCard, card, null, by).then([]);
  });

  it('stores only the new lore of another version, however old the first import is [8.9j]', () => {
    const later = given(
      ...imported.events,
      ...Array.from({ length: 300 }, (_, at) => memoryStored(`m${String(at)}`, `Day ${String(at)}.`)),
    );
    const second = { ...card, digest: 'second', lore: [...card.lore, lore('It snows.'), lore('It snows.')] };
    const { events } = later.when(importCard, second, textsAt(0, card), by);
    expect(typesOf(events)).toEqual(['NpcUpdated', 'MemoryStored']);
    expect(stored(events)).toEqual(['It snows.']);
    expect(events?.[0]?.data).toEqual({ card: { digest: 'second', content: card.content } });
  });

  it('does not store lore that the mind recently learned in the same words [8.9j]', () => {
    const learnt = given(memoryStored('m1', 'There is a war.'));
    expect(stored(learnt.when(importCard, card, null, by).events)).toEqual(['The gate is old.']);
  });

  it('stores lore again that is not among the last 256 memories [8.9j]', () => {
    const learnt = (later: number) =>
      given(
        memoryStored('m', 'There is a war.'),
        ...Array.from({ length: later }, (_, at) => memoryStored(`m${String(at)}`, `Day ${String(at)}.`)),
      );
    expect(stored(learnt(255).when(importCard, card, null, by).events)).toEqual(['The gate is old.']);
    expect(stored(learnt(256).when(importCard, card, null, by).events)).toEqual(card.lore.map(({ text }) => text));
  });

  it('keeps the persona of a mind when the card has none [8.9d]', () => {
    const calm = given({ type: 'NpcRegistered', data: { persona: 'Calm.' } });
    expect(calm.when(importCard, { ...card, persona: null }, null, by).and.state.persona).toBe('Calm.');
  });

  it('is refused after another card was imported meanwhile, but not after the same one', () => {
    const other = { ...card, digest: 'second' };
    imported.when(importCard, other, null, by).then('CONFLICT');
    imported.when(importCard, other, textsAt(7, card), by).then('CONFLICT');
    imported.when(importCard, card, textsAt(7, card), by).then([]);
  });
});
