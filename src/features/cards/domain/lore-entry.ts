import { defined } from '../../../kernel/base/defined.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';

/** The parts of an entry in a card's book that decide whether and how a mind reads it; `source` is the entry as it came. */
export type LoreEntry = {
  readonly content: string;
  readonly enabled: boolean;
  readonly priority: number | undefined;
  readonly insertionOrder: number | undefined;
  readonly source: JsonObject;
};

/** An entry, and why it or a part of it is not read; null if all of it is. */
export type ReadEntry = { readonly entry: LoreEntry; readonly warning: string | null };

/** The limit of keys in one text, such as "lamp, light". */
const TEXT_KEYS = 1_024;

/**
 * The names of each member, in order of precedence: chara_card_v3 first, then SillyTavern's World Info, Agnai, NovelAI, RisuAI and KoboldAI Lite.
 */
const NAMES = {
  content: ['content', 'entry', 'text'],
  keys: ['keys', 'key', 'keywords'],
  secondary_keys: ['secondary_keys', 'keysecondary', 'secondaryKeys', 'secondkey'],
  insertion_order: ['insertion_order', 'order', 'insertorder', 'weight'],
  priority: ['priority'],
  constant: ['constant', 'alwaysActive', 'forceActivation'],
  selective: ['selective'],
  case_sensitive: ['case_sensitive', 'caseSensitive'],
  use_regex: ['use_regex', 'useRegex'],
  name: ['name', 'displayName'],
  comment: ['comment'],
  position: ['position'],
} as const;
const ON = ['enabled', 'enable', 'isEnabled'] as const;
const OFF = ['disable', 'disabled', 'isDisabled', 'widisabled'] as const;

const FLAGS: ReadonlyMap<Json, boolean> = new Map<Json, boolean>([
  ...[true, 1, 'true', '1', 'yes', 'on'].map((spelling) => [spelling, true] as const),
  ...[false, 0, 'false', '0', 'no', 'off'].map((spelling) => [spelling, false] as const),
]);

/** Undefined if the value is no flag. */
const flagIn = (value: Json): boolean | undefined =>
  FLAGS.get(typeof value === 'string' ? value.trim().toLowerCase() : value);

const numberIn = (value: Json): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

/** Commas separate keys, but not within a pattern between slashes. */
const KEYS_IN_TEXT = /\/(?:\\.|[^/\\])+\/[a-z]*(?=\s*(?:[,，\n]|$))|[^,，\n]+/g;

const keysInText = (text: string): readonly string[] => {
  const keys: string[] = [];
  for (const [found] of text.matchAll(KEYS_IN_TEXT)) {
    const key = found.trim();
    if (key !== '') keys.push(key);
    if (keys.length === TEXT_KEYS) break;
  }
  return keys;
};

const keysIn = (value: Json): readonly string[] | undefined => {
  if (typeof value === 'string') return keysInText(value);
  if (!Array.isArray(value)) return undefined;
  return (value as readonly Json[]).flatMap((key) =>
    typeof key === 'string' ? [key] : typeof key === 'number' ? [String(key)] : [],
  );
};

const wordsIn = (value: Json): string | undefined => (typeof value === 'string' ? value : undefined);

const isEmpty = (read: boolean | number | string | readonly string[]): boolean =>
  typeof read === 'object' || typeof read === 'string' ? read.length === 0 : false;

/** The first value that can be read and is not empty, or else the first that can be read; `null` counts as absent. */
const firstOf = <Read extends boolean | number | string | readonly string[]>(
  entry: JsonObject,
  names: readonly string[],
  read: (value: Json) => Read | undefined,
): Read | undefined => {
  let empty: Read | undefined;
  for (const name of names) {
    const value = Object.hasOwn(entry, name) ? (entry[name] ?? null) : null;
    const found = value === null ? undefined : read(value);
    if (found !== undefined && !isEmpty(found)) return found;
    empty ??= found;
  }
  return empty;
};

/** Whether any of these members is there and meets a condition; `null` counts as absent. */
const someOf = (entry: JsonObject, names: readonly string[], holds: (value: Json) => boolean): boolean => {
  for (const name of names) {
    const value = Object.hasOwn(entry, name) ? (entry[name] ?? null) : null;
    if (value !== null && holds(value)) return true;
  }
  return false;
};

/**
 * Whether an entry is enabled; undefined if it does not say, and null if it says neither. One word that it is disabled is enough: its text may be a
 * secret.
 */
const enabledIn = (entry: JsonObject): boolean | null | undefined => {
  const says = (names: readonly string[], flag: boolean | undefined): boolean =>
    someOf(entry, names, (value) => flagIn(value) === flag);
  if (says(ON, false) || says(OFF, true)) return false;
  if (says(ON, undefined) || says(OFF, undefined)) return null;
  return says(ON, true) || says(OFF, false) ? true : undefined;
};

/** The members of an entry that can be read, under the names and in the types of chara_card_v3. */
export const standardMembers = (entry: JsonObject): JsonObject =>
  defined({
    content: firstOf(entry, NAMES.content, wordsIn),
    keys: firstOf(entry, NAMES.keys, keysIn),
    enabled: enabledIn(entry) ?? undefined,
    secondary_keys: firstOf(entry, NAMES.secondary_keys, keysIn),
    insertion_order: firstOf(entry, NAMES.insertion_order, numberIn),
    priority: firstOf(entry, NAMES.priority, numberIn),
    constant: firstOf(entry, NAMES.constant, flagIn),
    selective: firstOf(entry, NAMES.selective, flagIn),
    case_sensitive: firstOf(entry, NAMES.case_sensitive, flagIn),
    use_regex: firstOf(entry, NAMES.use_regex, flagIn),
    name: firstOf(entry, NAMES.name, wordsIn),
    comment: firstOf(entry, NAMES.comment, wordsIn),
    position: firstOf(entry, NAMES.position, wordsIn),
  });

const LEFT_OUT: LoreEntry = { content: '', enabled: false, priority: undefined, insertionOrder: undefined, source: {} };
const lost = (warning: string): ReadEntry => ({ entry: LEFT_OUT, warning });

const isNoText = (value: Json): boolean => typeof value !== 'string';
const isNoList = (value: Json): boolean => typeof value !== 'string' && !Array.isArray(value);

/** Reads an entry of a book, under the names of any application. An entry that cannot be read is left out, with a warning. */
export const readEntry = (value: Json): ReadEntry => {
  if (!isObject(value)) return lost(`must be an object${value === null ? ', not null' : ''}; the entry was left out`);
  const enabled = enabledIn(value);
  if (enabled === null) return lost('does not say with true or false whether it is enabled; the entry was left out');
  const content = firstOf(value, NAMES.content, wordsIn);
  if (content === undefined && someOf(value, NAMES.content, isNoText))
    return lost('must have its text in a string; the entry was left out');
  return {
    entry: {
      content: content ?? '',
      enabled: enabled ?? true,
      priority: firstOf(value, NAMES.priority, numberIn),
      insertionOrder: firstOf(value, NAMES.insertion_order, numberIn),
      source: value,
    },
    warning: someOf(value, NAMES.keys, isNoList)
      ? 'must have its keys in a list or a string; the entry was read without them'
      : null,
  };
};

/** The entries of a book, which is a list or, in SillyTavern's World Info, a map; undefined if it has none. */
export const entriesOfBook = (book: Json | undefined): Readonly<Record<string, Json>> | readonly Json[] | undefined => {
  const entries = isObject(book) && Object.hasOwn(book, 'entries') ? book['entries'] : undefined;
  return Array.isArray(entries) || isObject(entries) ? (entries as JsonObject | readonly Json[]) : undefined;
};
