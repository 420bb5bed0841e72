import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';

/** The versions of cards: V1 is flat, V2 and V3 have `spec` and `data`. */
export type CardVersion = 1 | 2 | 3;

/** The parts of an entry in a card's book that a mind reads; `members` is the complete entry, unchanged. */
export type LoreEntry = {
  readonly content: string;
  readonly keys: readonly string[];
  readonly enabled: boolean;
  readonly members: JsonObject;
};

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
};

/** The limit of a name, which may replace a macro any number of times; in characters. */
export const NAME_CHARS = 128;
/** The number of problems listed in one response; the search stops there. */
const MAX_PROBLEMS = 50;
const SPECS: Readonly<Record<string, CardVersion>> = { chara_card_v2: 2, chara_card_v3: 3 };

type Problem = { readonly in: 'body'; readonly pointer: string; readonly message: string };

const refuseCard = (issues: readonly Problem[]): Rejection => new Rejection('CARD_INVALID', { details: { issues } });
const problem = (pointer: string, message: string): Problem => ({ in: 'body', pointer, message });

const isAbsent = (value: Json | undefined): value is null | undefined => value === undefined || value === null;
/** Members that every object has, such as `constructor`, do not belong to the card. */
const memberOf = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** The version that a card declares, and the object that has its members. @throws Rejection CARD_INVALID */
const formOf = (
  content: JsonObject,
): { readonly version: CardVersion; readonly data: JsonObject; readonly at: string } => {
  const spec = memberOf(content, 'spec');
  const isFlat = ['description', 'personality', 'first_mes'].some((name) => Object.hasOwn(content, name));
  if (isAbsent(spec) && isFlat) return { version: 1, data: content, at: '' };
  const version = typeof spec === 'string' && Object.hasOwn(SPECS, spec) ? SPECS[spec] : undefined;
  if (version === undefined) throw refuseCard([problem('/spec', 'must be chara_card_v2 or chara_card_v3')]);
  const data = memberOf(content, 'data');
  if (!isObject(data)) throw refuseCard([problem('/data', 'must be an object')]);
  return { version, data, at: '/data' };
};

/**
 * Reads a character card: a V1, V2 or V3 card. Only members that a mind uses are checked; `null` in one of them counts as absent, as on every route.
 * @throws Rejection CARD_INVALID, with the first problems in `issues`
 */
export const readCard = (json: Json): CharacterCard => {
  if (!isObject(json)) throw refuseCard([problem('', 'must be an object')]);
  const { version, data, at } = formOf(json);
  const problems: Problem[] = [];
  const note = (pointer: string, message: string): void => {
    problems.push(problem(pointer, message));
    if (problems.length === MAX_PROBLEMS) throw refuseCard(problems);
  };
  const textIn = (object: JsonObject, where: string, name: string): string => {
    const value = memberOf(object, name);
    if (isAbsent(value)) return '';
    if (typeof value === 'string') return value;
    note(`${where}/${name}`, 'must be a string');
    return '';
  };
  const nameIn = (member: string): string => {
    const name = textIn(data, at, member).trim();
    if (name.length > NAME_CHARS) {
      note(`${at}/${member}`, `must have at most ${String(NAME_CHARS)} characters`);
    }
    return name;
  };
  const entryOf = (entry: Json, index: number): LoreEntry => {
    const where = `${at}/character_book/entries/${String(index)}`;
    if (!isObject(entry)) {
      note(where, 'must be an object');
      return { content: '', keys: [], enabled: false, members: {} };
    }
    const keys = memberOf(entry, 'keys');
    return {
      content: textIn(entry, where, 'content'),
      keys: Array.isArray(keys) ? (keys as readonly Json[]).filter((key) => typeof key === 'string') : [],
      enabled: memberOf(entry, 'enabled') !== false,
      members: entry,
    };
  };
  const entriesIn = (): readonly LoreEntry[] => {
    const book = memberOf(data, 'character_book');
    if (isAbsent(book)) return [];
    const entries = isObject(book) ? memberOf(book, 'entries') : undefined;
    if (Array.isArray(entries)) return (entries as readonly Json[]).map(entryOf);
    note(`${at}/character_book`, 'must be an object with an array "entries"');
    return [];
  };
  const name = nameIn('name');
  if (name === '') note(`${at}/name`, 'must be a string that is not empty');
  const card: CharacterCard = {
    version,
    content: json,
    name,
    calledName: nameIn('nickname') || name,
    description: textIn(data, at, 'description'),
    personality: textIn(data, at, 'personality'),
    scenario: textIn(data, at, 'scenario'),
    systemPrompt: textIn(data, at, 'system_prompt'),
    entries: entriesIn(),
  };
  if (problems.length > 0) throw refuseCard(problems);
  return card;
};
