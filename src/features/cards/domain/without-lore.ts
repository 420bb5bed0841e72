import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { entriesOfBook, readEntry } from './lore-entry.js';
import { loreOf } from './lore.js';
import { type CharacterCard, readRecordedCard } from './read-card.js';

/** Where a card and the applications that write cards have a book. */
const BOOKS = ['character_book', 'characterBook'] as const;

const withoutEntries = (object: JsonObject, left: ReadonlySet<string>): JsonObject => {
  const stays = (value: Json): boolean => !left.has(readEntry(value).entry.content);
  const changed = BOOKS.flatMap((name): [string, Json][] => {
    const book = Object.hasOwn(object, name) ? object[name] : undefined;
    const given = entriesOfBook(book);
    if (!isObject(book) || given === undefined) return [];
    const entries = Array.isArray(given)
      ? (given as readonly Json[]).filter(stays)
      : Object.fromEntries(Object.entries(given as JsonObject).filter(([, value]) => stays(value)));
    return [[name, { ...book, entries }]];
  });
  return { ...object, ...Object.fromEntries(changed) };
};

/**
 * A card without the entries of its book that gave a memory with one of these texts; otherwise as it came. Applications also write the book next to
 * `data`, and entries of the same content are left out there, too.
 */
export const withoutLore = (card: CharacterCard, texts: ReadonlySet<string>): CharacterCard => {
  const places = loreOf(card).memories.flatMap(({ text, metadata }) => (texts.has(text) ? [metadata?.['entry']] : []));
  const left = new Set(places.flatMap((place) => card.entries[Number(place)]?.content ?? []));
  if (left.size === 0) return card;
  const content = withoutEntries(card.content, left);
  const { data } = content;
  return readRecordedCard(isObject(data) ? { ...content, data: withoutEntries(data, left) } : content);
};
