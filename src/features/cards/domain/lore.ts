import type { BroughtMemory } from '../../memory/domain/decide.js';
import { fitsMetadata, MEMORY_BYTES } from '../../npcs/domain/recorded-bytes.js';
import { defined } from '../../../kernel/base/defined.js';
import { firstFitting, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { cutBytes, cutJsonText } from '../../../kernel/base/text.js';
import { withNames } from './persona.js';
import { type LoreEntry, standardMembers } from './lore-entry.js';
import type { CharacterCard } from './read-card.js';

/** The memory type of lore entries. */
export const LORE_TYPE = 'knowledge';

/** The limit of the memories from one card: an append holds 500 events. */
export const LORE_MEMORIES = 480;

/** The importance of entries that are always in the prompt, and of the least and the most important of a book's other entries. */
const ALWAYS = 1;
const LEAST = 0.5;
const MOST = 0.9;

/** How many keys are put before a text that contains none of them, and their total limit in bytes. */
const HEADING_KEYS = 5;
const HEADING_BYTES = 256;
/** How many keys are searched for, and in how much of the text, in UTF-16 units. */
const KEYS_SOUGHT = 64;
const SOUGHT_CHARS = 8_192;
/** The limits of each list of keys and of each text in metadata, in bytes of JSON. The total stays below METADATA_BYTES. */
const KEYS_BYTES = 4_096;
const WORDS_BYTES = 512;

/** The lore of a card as memories, how many entries give none, and how many of these are disabled. */
export type Lore = { readonly memories: readonly BroughtMemory[]; readonly left: number; readonly disabled: number };

/** An entry's text without the decorators at its beginning (chara_card_v3, Decorators), and these decorators. */
export const undecorated = (content: string): { readonly text: string; readonly decorators: readonly string[] } => {
  const lines = content.split(/\r?\n/);
  const first = lines.findIndex((line) => line.trim() !== '' && !line.trimStart().startsWith('@@'));
  const decorators = (first < 0 ? lines : lines.slice(0, first))
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (decorators.length === 0) return { text: content, decorators };
  return { text: first < 0 ? '' : lines.slice(first).join('\n'), decorators };
};

const ACTIVATE = 'activate';
const DONT_ACTIVATE = 'dont_activate';
/** The name of a decorator, and whether it stands in for the one before it. */
const DECORATOR = /^@@(@?)([a-z_]+)/i;

/**
 * The decorators that count here, of those of an entry: whether it is always activated, or never. One with three signs counts if the one before it
 * does not (chara_card_v3, Fallback Decorators).
 */
const countingAmong = (decorators: readonly string[]): ReadonlySet<string> => {
  const counting = new Set<string>();
  let counts = false;
  for (const line of decorators) {
    const [, third = '', name = ''] = DECORATOR.exec(line) ?? [];
    if (third !== '' && counts) continue;
    counts = [ACTIVATE, DONT_ACTIVATE].includes(name.toLowerCase());
    if (counts) counting.add(name.toLowerCase());
  }
  return counting;
};

/** Cuts a text into pieces of at most `bytes` bytes of UTF-8, at the end of a paragraph, line or word. */
const piecesOf = (text: string, bytes: number): readonly string[] => {
  const pieces: string[] = [];
  for (let left = text; left !== '';) {
    const fitting = cutBytes(left, bytes);
    const isLast = fitting.length === left.length;
    // A cut in the first half would make small pieces.
    const ends = ['\n\n', '\n', ' '].map((end) => fitting.lastIndexOf(end)).filter((at) => at > fitting.length / 2);
    const piece = isLast ? left : left.slice(0, ends[0] ?? fitting.length);
    pieces.push(piece.trim());
    left = left.slice(piece.length).trimStart();
  }
  return pieces.filter((piece) => piece !== '');
};

/**
 * The importance of each entry that is not constant, among those of its book: by `priority` if any entry has one, otherwise by `insertion_order`.
 */
const importances = (entries: readonly LoreEntry[]): ((entry: LoreEntry) => number) => {
  const by = entries.some(({ priority }) => priority !== undefined) ? 'priority' : 'insertionOrder';
  const values = entries.flatMap((entry) => entry[by] ?? []);
  const low = values.reduce((least, value) => Math.min(least, value), Infinity);
  const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  return (entry) => {
    const value = entry[by];
    // Halved, because the difference of two numbers may exceed the range of a number.
    const share = value === undefined || high === low ? 0.5 : (value / 2 - low / 2) / (high / 2 - low / 2);
    return Math.round((LEAST + (MOST - LEAST) * share) * 100) / 100;
  };
};

/** What only patterns have. */
const SIGNS = /[\\^$.|?*+()[\]{}]/;

/** The words in a key. A pattern has none, unless it is only words, which is how many books use `use_regex`; no pattern is ever run. */
const wordsOf = (key: string, isPattern: boolean): readonly string[] => {
  const inner = /^\/(.+)\/[a-z]*$/s.exec(key)?.[1];
  if (inner === undefined && (key.startsWith('/') || !isPattern)) return key.startsWith('/') ? [] : [key];
  const words = (inner ?? key).replaceAll('\\b', '').split('|');
  return words.some((word) => SIGNS.test(word)) ? [] : words;
};

const keysOf = ({ keys = [] }: JsonObject): readonly string[] => keys as readonly string[];

/** Keys are the words that a player says; a text without any of them would not be found by them. */
const headingOf = (card: CharacterCard, members: JsonObject, text: string): string => {
  const words = keysOf(members)
    .slice(0, KEYS_SOUGHT)
    .flatMap((key) => wordsOf(withNames(key, card).trim(), members['use_regex'] === true))
    .slice(0, KEYS_SOUGHT)
    .filter((word) => word !== '');
  const sought = text.slice(0, SOUGHT_CHARS).toLowerCase();
  const isNamed = words.some((word) => sought.includes(word.toLowerCase()));
  if (words.length === 0 || isNamed) return '';
  return `${cutBytes(words.slice(0, HEADING_KEYS).join(', '), HEADING_BYTES)}: `;
};

/** Whether metadata fits, including the number of a part. */
const fitsInParts = (metadata: JsonObject): boolean =>
  fitsMetadata({ ...metadata, part: LORE_MEMORIES, parts: LORE_MEMORIES });

const metadataOf = (
  card: CharacterCard,
  index: number,
  members: JsonObject,
  decorators: readonly string[],
): JsonObject => {
  const listed = (value: Json | undefined): readonly Json[] | undefined =>
    Array.isArray(value) && value.length > 0 ? firstFitting(value as readonly Json[], KEYS_BYTES) : undefined;
  const words = (name: string): string | undefined => {
    const value = members[name];
    return typeof value === 'string' && value !== '' ? cutJsonText(value, WORDS_BYTES) : undefined;
  };
  const flag = (name: string): true | undefined => (members[name] === true ? true : undefined);
  const short = defined({
    entry: index,
    constant: flag('constant'),
    selective: flag('selective'),
    case_sensitive: flag('case_sensitive'),
    use_regex: flag('use_regex'),
    priority: members['priority'],
    insertion_order: members['insertion_order'],
  });
  const texts = defined({
    card: card.name,
    keys: firstFitting(keysOf(members), KEYS_BYTES),
    name: words('name'),
    comment: words('comment'),
    position: words('position'),
    secondary_keys: listed(members['secondary_keys']),
    decorators: listed(decorators),
  });
  const whole = { ...short, ...texts };
  if (fitsInParts(whole)) return whole;
  // Everything fits unchanged, but may not in compatibility form: members that do not fit after the others are left out.
  let fitting: JsonObject = short;
  for (const [name, text] of Object.entries(texts)) {
    const more = { ...fitting, [name]: text };
    if (fitsInParts(more)) fitting = more;
  }
  return fitting;
};

/**
 * The memories of a card's book (docs/reference/formats/character-card.md): each enabled entry with a text gives one, or several if the text is long.
 * Once there are more than LORE_MEMORIES the rest is not read: the book is too large.
 */
export const loreOf = (card: CharacterCard): Lore => {
  const importanceOf = importances(card.entries);
  const memories: BroughtMemory[] = [];
  let left = 0;
  let disabled = 0;
  for (const [index, entry] of card.entries.entries()) {
    const { text: plain, decorators } = undecorated(entry.content);
    const counting = countingAmong(decorators);
    const isNever = counting.has(DONT_ACTIVATE) && !counting.has(ACTIVATE);
    const text = entry.enabled && !isNever ? withNames(plain, card).trim() : '';
    if (text === '') {
      left += 1;
      if (!entry.enabled && entry.content !== '') disabled += 1;
      continue;
    }
    const members = standardMembers(entry.source);
    const heading = headingOf(card, members, text);
    const pieces = piecesOf(text, MEMORY_BYTES - Buffer.byteLength(heading));
    const metadata = metadataOf(card, index, members, decorators);
    const brought = pieces.map((piece, part) => ({
      text: `${heading}${piece}`,
      type: LORE_TYPE,
      importance: members['constant'] === true || counting.has(ACTIVATE) ? ALWAYS : importanceOf(entry),
      metadata: pieces.length === 1 ? metadata : { ...metadata, part: part + 1, parts: pieces.length },
    }));
    memories.push(...brought);
    if (memories.length > LORE_MEMORIES) break;
  }
  return { memories, left, disabled };
};
