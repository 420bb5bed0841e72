import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { flatCard, isAgnai, isPygmalion } from './flat-card.js';
import { foreignFile } from './foreign-file.js';
import { entriesOfBook, type LoreEntry, readEntry } from './lore-entry.js';
import { shortPointerPart } from '../../../kernel/base/json-pointer.js';

/** The versions of cards: V1 is flat, V2 and V3 have `spec` and `data`. */
export type CardVersion = 1 | 2 | 3;

/** The parts of a character card that a mind reads. Missing texts are empty strings. */
export type CharacterCard = {
  readonly version: CardVersion;
  /** The complete card, unchanged. */
  readonly content: JsonObject;
  readonly name: string;
  /** The replacement of `{{char}}`. */
  readonly calledName: string;
  readonly description: string;
  readonly personality: string;
  readonly scenario: string;
  readonly systemPrompt: string;
  readonly entries: readonly LoreEntry[];
  /** What of the book was not read. */
  readonly warnings: readonly CardWarning[];
};

/** A part of a card that was not read, and why. */
export type CardWarning = { readonly pointer: string; readonly message: string };

/** The limit of a name, which may replace a macro any number of times; in characters. */
export const NAME_CHARS = 128;
/** How many warnings one response lists. */
export const MAX_WARNINGS = 50;
/** The limit of a book, disabled entries included. */
export const MAX_ENTRIES = 5_000;
const SPECS: Readonly<Record<string, CardVersion>> = { chara_card_v2: 2, chara_card_v3: 3 };

type Problem = { readonly in: 'body'; readonly pointer: string; readonly message: string };

const refuseCard = (issues: readonly Problem[]): Rejection => new Rejection('CARD_INVALID', { details: { issues } });
const problem = (pointer: string, message: string): Problem => ({ in: 'body', pointer, message });

const isAbsent = (value: Json | undefined): value is null | undefined => value === undefined || value === null;
/** Members that every object has, such as `constructor`, do not belong to the card. */
const memberOf = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** The texts of a card without `spec`. One of them alone may be in any file: a package has a name and a description. */
const FLAT_TEXTS = ['description', 'personality', 'scenario', 'first_mes', 'mes_example'] as const;
const LEAST_TEXTS = 2;

/** @throws Rejection CARD_INVALID for an object without `spec` that has too little of a card */
const refuseOthers = (content: JsonObject): void => {
  if (!isAbsent(memberOf(content, 'spec')) || isAgnai(content) || isPygmalion(content)) return;
  const texts = FLAT_TEXTS.filter((name) => typeof memberOf(content, name) === 'string');
  if (texts.length >= LEAST_TEXTS) return;
  const message = `must be a character card: a card has "spec", or at least ${String(LEAST_TEXTS)} of the texts ${FLAT_TEXTS.join(', ')}`;
  throw refuseCard([problem('', message)]);
};

/** The version that a card declares, the object that has its members, and what they are called there. */
type CardForm = {
  readonly version: CardVersion;
  readonly data: JsonObject;
  readonly at: string;
  readonly names: Readonly<Record<string, string>>;
};

/** @throws Rejection CARD_INVALID */
const formOf = (content: JsonObject): CardForm => {
  const spec = memberOf(content, 'spec');
  const isFlat = ['description', 'personality', 'first_mes'].some((name) => Object.hasOwn(content, name));
  if (isAbsent(spec) && (isFlat || isAgnai(content) || isPygmalion(content))) {
    const { members, names } = flatCard(content);
    return { version: 1, data: members, at: '', names };
  }
  const version = typeof spec === 'string' && Object.hasOwn(SPECS, spec) ? SPECS[spec] : undefined;
  if (version === undefined) throw refuseCard([problem('/spec', 'must be chara_card_v2 or chara_card_v3')]);
  const data = memberOf(content, 'data');
  if (!isObject(data)) throw refuseCard([problem('/data', 'must be an object')]);
  return { version, data, at: '/data', names: {} };
};

/** Reads the entries of a book, and warns of those that are left out. */
const readEntries = (
  book: Json,
  at: string,
): { readonly entries: readonly LoreEntry[]; readonly warnings: readonly CardWarning[] } => {
  const warnings: CardWarning[] = [];
  const entries = Object.entries(entriesOfBook(book) ?? {}).map(([index, value]) => {
    const { entry, warning } = readEntry(value);
    if (warning !== null && warnings.length < MAX_WARNINGS) {
      warnings.push({ pointer: `${at}/entries/${shortPointerPart(index, NAME_CHARS)}`, message: warning });
    }
    return entry;
  });
  return { entries, warnings };
};

/**
 * Reads a recorded card: V1, V2, V3, Agnai or Pygmalion. Only members that a mind uses are checked; `null` in one of them counts as absent, as on
 * every route. An entry of its book that cannot be read is left out.
 * @throws Rejection CARD_INVALID, with the first problems in `issues`
 */
export const readRecordedCard = (json: Json): CharacterCard => {
  if (!isObject(json)) throw refuseCard([problem('', 'must be an object')]);
  const { version, data, at, names } = formOf(json);
  const problems: Problem[] = [];
  const pointerTo = (member: string): string => `${at}/${(memberOf(names, member) as string | undefined) ?? member}`;
  const textIn = (member: string): string => {
    const value = memberOf(data, member);
    if (isAbsent(value)) return '';
    if (typeof value === 'string') return value;
    problems.push(problem(pointerTo(member), 'must be a string'));
    return '';
  };
  const nameIn = (member: string): string => {
    const name = textIn(member).trim();
    if (name.length > NAME_CHARS) {
      problems.push(problem(pointerTo(member), `must have at most ${String(NAME_CHARS)} characters`));
    }
    return name;
  };
  const book = memberOf(data, 'character_book');
  if (!isAbsent(book) && entriesOfBook(book) === undefined) {
    problems.push(problem(pointerTo('character_book'), 'must be an object with "entries", a list or a map'));
  }
  const name = nameIn('name');
  if (name === '') problems.push(problem(pointerTo('name'), 'must be a string that is not empty'));
  const card: CharacterCard = {
    version,
    content: json,
    name,
    calledName: nameIn('nickname') || name,
    description: textIn('description'),
    personality: textIn('personality'),
    scenario: textIn('scenario'),
    systemPrompt: textIn('system_prompt'),
    ...readEntries(book ?? null, pointerTo('character_book')),
  };
  if (problems.length > 0) throw refuseCard(problems);
  return card;
};

/**
 * Reads a character card that is brought. A known kind of file that is no card is refused by its name, even if it has some members of one.
 * @throws Rejection CARD_INVALID
 */
export const readCard = (json: Json): CharacterCard => {
  if (!isObject(json)) throw refuseCard([problem('', 'must be an object')]);
  const foreign = foreignFile(json);
  if (foreign !== null) {
    throw new Rejection('CARD_INVALID', { message: foreign, details: { issues: [problem('', foreign)] } });
  }
  const { data, at, names } = formOf(json);
  refuseOthers(json);
  const entries = entriesOfBook(memberOf(data, 'character_book'));
  if (entries !== undefined && Object.keys(entries).length > MAX_ENTRIES) {
    const book = (memberOf(names, 'character_book') as string | undefined) ?? 'character_book';
    throw refuseCard([problem(`${at}/${book}/entries`, `must have at most ${String(MAX_ENTRIES)} entries`)]);
  }
  return readRecordedCard(json);
};
