import { describe, expect, it } from 'vitest';

import { readRecordedCard } from '../../../../src/features/cards/domain/read-card.js';
import { withoutLore } from '../../../../src/features/cards/domain/without-lore.js';

const entry = (content: string) => ({ keys: ['well'], content, enabled: true });
const [lie, truth] = [entry('@@depth 4\n{{char}} poisoned the well.'), entry('The well is deep.')];
const left = (content: object, ...texts: readonly string[]): unknown =>
  withoutLore(readRecordedCard(content as never), new Set(texts)).content;
const told = 'Mira poisoned the well.';

describe('a card without retracted lore', () => {
  it('has every other entry as it came, in lists and maps, and next to `data` [10.12q]', () => {
    const book = { name: 'Lore', entries: [lie, null, truth] };
    const card = { spec: 'chara_card_v3', data: { name: 'Mira', character_book: book }, character_book: book };
    const rest = { name: 'Lore', entries: [null, truth] };
    expect(left(card, told)).toEqual({ ...card, data: { name: 'Mira', character_book: rest }, character_book: rest });
    const flat = { name: 'Mira', description: '', character_book: { entries: { 1: lie, 7: truth } } };
    expect(left(flat, told)).toEqual({ ...flat, character_book: { entries: { 7: truth } } });
    const agnai = { kind: 'character', name: 'Mira', characterBook: { entries: [{ ...lie, entry: lie.content }] } };
    expect(left(agnai, told)).toEqual({ ...agnai, characterBook: { entries: [] } });
  });

  it('loses an entry of which one part was retracted', () => {
    const long = entry(`${'x'.repeat(8_000)} ${'y'.repeat(8_000)}`);
    const card = { name: 'Mira', description: '', character_book: { entries: [truth, long] } };
    expect(left(card, `well: ${'y'.repeat(8_000)}`)).toEqual({ ...card, character_book: { entries: [truth] } });
  });

  it('is the same card if no text of it was retracted', () => {
    const card = { name: 'Mira', description: '', character_book: { entries: [truth] } };
    expect(left(card, told)).toBe(card);
  });
});
