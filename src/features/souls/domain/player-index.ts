import type { Json } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { eachPlayerIn, type NamedPlayer } from '../../npcs/domain/player-names.js';

/** How many players are distinguished. */
export const MAX_PLAYERS = 100_000;
/** How many ids and names one player may have. */
const MAX_NAMES = 1_000;
/** A longer name is found by its first words or characters: each position of a text is compared with no more. */
const MAX_UNITS = 12;
/** How many players with the same name a text is said to mention. */
const MAX_NAMESAKES = 16;

/** A player, by all the ids and names that bodies used; the id comes first if it was first. */
export type Player = { readonly names: readonly string[] };
type KnownPlayer = { id: string | undefined; readonly names: string[]; readonly known: Set<string> };

const tooMany = (): Rejection =>
  new Rejection('SOUL_TOO_LARGE', { details: { playersLimit: MAX_PLAYERS, namesOfOneLimit: MAX_NAMES } });

/** Names by their words, or by their characters: the cost of a search does not depend on their number. */
type NameBranch = { readonly players: KnownPlayer[]; readonly next: Map<string, NameBranch> };
const branch = (): NameBranch => ({ players: [], next: new Map() });

const plant = (root: NameBranch, units: readonly string[], player: KnownPlayer): void => {
  let at = root;
  for (const unit of units.slice(0, MAX_UNITS)) {
    const next = at.next.get(unit) ?? branch();
    at.next.set(unit, next);
    at = next;
  }
  if (at.players.length < MAX_NAMESAKES) at.players.push(player);
};

const search = (root: NameBranch, units: readonly string[], found: Set<KnownPlayer>): void => {
  if (root.next.size === 0) return;
  for (let start = 0; start < units.length; start += 1) {
    let at = root.next.get(units[start] ?? '');
    for (let end = start + 1; at !== undefined; end += 1) {
      for (const player of at.players) found.add(player);
      at = at.next.get(units[end] ?? '');
    }
  }
};

/** Scripts that are written without spaces: their names have no boundaries. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
/** Shorter names are not searched for: they would be found everywhere. */
const FINDABLE = /\p{L}.|.\p{L}|\p{N}{4}/su;
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}]+/u;
/** Where a word is joined to another without a sign between them. */
const JOINT = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[\p{L}\p{M}])(?=\p{N})|(?<=\p{N})(?=\p{L})/gu;
const GREEK = /\p{Script=Greek}/u;
const GREEK_ACCENTS = /(\p{Script=Greek})\p{M}+/gu;
/** A name is also looked for in parts if none of them is shorter. */
const LEAST_PART = 2;

/** The boundaries of a script without spaces next to another script. */
const BETWEEN_SCRIPTS = new RegExp(
  `(?<=${UNSPACED.source})(?!${UNSPACED.source})|(?<!${UNSPACED.source})(?=${UNSPACED.source})`,
  'u',
);

/** Greek loses its accents in capitals, and has another sigma at the end of a word. */
const plainGreek = (text: string): string =>
  GREEK.test(text) ? text.normalize('NFD').replace(GREEK_ACCENTS, '$1').replaceAll('ς', 'σ').normalize('NFC') : text;

const wordsOf = (text: string): readonly string[] =>
  // Some letters become two in upper case.
  plainGreek(text.normalize('NFKC').toUpperCase().toLowerCase())
    .split(BETWEEN_WORDS)
    .filter((word) => word !== '');

/** The words of a text in which names are joined to others by their case or by digits, as in `annSecret` and `room4711`; null if none are. */
const joinedWordsOf = (text: string): readonly string[] | null => {
  const parted = text.normalize('NFKC').replace(JOINT, ' ');
  return parted === text ? null : wordsOf(parted);
};
const charactersOf = (words: readonly string[]): readonly string[] => [...words.join(' ')];

/** How a name is looked for: by its words, also where they are joined, or by its characters. */
type SoughtForms = { readonly spaced: readonly (readonly string[])[]; readonly unspaced: readonly string[] | null };

const formsOf = (name: string): SoughtForms => {
  const words = wordsOf(name);
  const text = words.join(' ');
  if (!FINDABLE.test(text)) return { spaced: [], unspaced: null };
  if (UNSPACED.test(text)) return { spaced: [], unspaced: charactersOf(words) };
  const parts = joinedWordsOf(name);
  const isParted = parts?.every((part) => part.length >= LEAST_PART) === true;
  return { spaced: isParted ? [words, parts] : [words], unspaced: null };
};

/** What names are looked for in: the words of a text, and those in which others are joined. */
const searchedIn = (text: string, words: readonly string[]): readonly (readonly string[])[] => {
  const joined = joinedWordsOf(text);
  const isMixed = UNSPACED.test(text);
  const byScript = (parts: readonly string[]): readonly string[] =>
    isMixed ? parts.flatMap((word) => word.split(BETWEEN_SCRIPTS)) : parts;
  return [words, ...(joined === null ? [] : [joined])].map(byScript);
};

const DIGIT = /\p{N}/gu;
const digitsIn = (word: string): number => word.match(DIGIT)?.length ?? 0;
/** The word of a name that the fewest other names have: the number in `player 4711`, otherwise the longest. */
const rarestOf = (words: readonly string[]): string | undefined =>
  words.slice(0, MAX_UNITS).sort((one, other) => digitsIn(other) - digitsIn(one) || other.length - one.length)[0];

const pairsOf = (characters: readonly string[]): readonly string[] =>
  characters
    .slice(1)
    .map((character, at) => (characters[at] ?? '') + character)
    .filter((pair) => UNSPACED.test(pair));

/**
 * What every text has in which a name is found: one of its words, for each form in which it is looked for; of a name without spaces two of its
 * characters. None for a name that is not looked for.
 */
export const tracesOf = (name: string): readonly string[] => {
  const { spaced, unspaced } = formsOf(name);
  const traces = spaced.flatMap((words) => rarestOf(words) ?? []);
  if (unspaced === null) return [...new Set(traces)];
  return [pairsOf(unspaced.slice(0, MAX_UNITS))[0] ?? unspaced.slice(0, 1).join('')];
};

/** The traces of all names that could be found in a text. */
export const tracesIn = (text: string): readonly string[] => {
  const words = wordsOf(text);
  const characters = charactersOf(words);
  return [...searchedIn(text, words).flat(), ...pairsOf(characters), ...new Set(characters)];
};

/** The players who were named, and which of them a text mentions. */
export type PlayerIndex = {
  /** Notes the players that a value names, at any depth. @throws Rejection SOUL_TOO_LARGE beyond MAX_PLAYERS */
  readonly note: (value: Json) => readonly Player[];
  /** The players whose id or name occurs in a text. */
  readonly spokenOf: (text: string) => readonly Player[];
};

/** An empty index. The same values noted in the same order make the same players. */
export const createPlayerIndex = (): PlayerIndex => {
  const byId = new Map<string, KnownPlayer>();
  const byName = new Map<string, KnownPlayer[]>();
  const [spaced, unspaced] = [branch(), branch()];
  let count = 0;

  const called = (player: KnownPlayer, name: string): void => {
    if (player.known.has(name)) return;
    if (player.names.length >= MAX_NAMES) throw tooMany();
    player.known.add(name);
    player.names.push(name);
    const namesakes = byName.get(name) ?? [];
    namesakes.push(player);
    byName.set(name, namesakes);
    const forms = formsOf(name);
    for (const words of forms.spaced) plant(spaced, words, player);
    if (forms.unspaced !== null) plant(unspaced, forms.unspaced, player);
  };
  const fresh = (): KnownPlayer => {
    if (count >= MAX_PLAYERS) throw tooMany();
    count += 1;
    return { id: undefined, names: [], known: new Set() };
  };
  const namesakesOf = (name: string | undefined): readonly KnownPlayer[] =>
    name === undefined ? [] : (byName.get(name) ?? []);
  /** Identifies a player by the id, otherwise by the name. A player known only by a name adopts the id that a later value adds. */
  const known = ({ id, name }: NamedPlayer): KnownPlayer => {
    if (id === undefined) return byId.get(name ?? '') ?? namesakesOf(name)[0] ?? fresh();
    const mayBe = byId.get(id) ?? namesakesOf(id)[0] ?? namesakesOf(name)[0];
    const player = mayBe === undefined || (mayBe.id ?? id) !== id ? fresh() : mayBe;
    player.id = id;
    byId.set(id, player);
    return player;
  };
  return {
    note: (value) => {
      const noted = new Set<KnownPlayer>();
      eachPlayerIn(value, (named) => {
        const player = known(named);
        if (named.id !== undefined) called(player, named.id);
        if (named.name !== undefined) called(player, named.name);
        noted.add(player);
      });
      return [...noted];
    },
    spokenOf: (text) => {
      const found = new Set<KnownPlayer>();
      if (count === 0) return [];
      const words = wordsOf(text);
      for (const units of searchedIn(text, words)) search(spaced, units, found);
      if (unspaced.next.size > 0) search(unspaced, charactersOf(words), found);
      return [...found];
    },
  };
};
