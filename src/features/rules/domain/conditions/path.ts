import { areSlips, type Bare, bareOf, isMisspelt, LONGEST_NAME } from '../../../../kernel/base/alike.js';
import { areWithin } from '../../../../kernel/base/slips.js';
import { type Problem, problem, shownText } from './problem.js';

/** What a path can begin with, other than the name of a member of the state. */
export const ROOTS = ['state', 'context', 'facts', 'action', 'delta', 'after', 'observation'] as const;
export type Root = (typeof ROOTS)[number];

/** What a condition looks at: members below a root. */
export type Path = {
  readonly root: Root;
  readonly names: readonly string[];
  /** `bag[x].id`: the letter, and how many of the names lead to the list. */
  readonly letter?: { readonly name: string; readonly listNames: number };
};

/** The members of every action, and those that models give to many. */
const ACTION_MEMBERS = ['type', 'target', 'reason', 'confidence', 'payload'];
/** With a letter replaced, shorter roots resemble too many names of members: `stats` is not `state`. */
const LONG_ROOT_CHARS = 6;
/** `player` is `context.player`. */
const PLAYER = 'player';
const FIRST_NAMES: readonly string[] = [...ROOTS, PLAYER];
/** What grammar 1 called the state. */
const NPC_STATE = 'npcState';
/** First names that are read as they are, or refused as such. */
const RESERVED: readonly string[] = [...FIRST_NAMES, NPC_STATE, 'cel'];

/** Words of games that resemble a root. They are members of the state like any other. */
const USUAL_WORDS: readonly string[] = [
  ...['faction', 'auction', 'estate', 'players', 'prayer', 'slayer', 'layer', 'npcStats', 'npcStatus'],
];

const NAMED = /^([^[\]]+)(?:\[([a-z])\])?$/;

const reservedName = (first: string, more: readonly string[]): Problem | null => {
  if (first === 'cel') return problem('cel is reserved. Write state.cel for a member of the state.');
  return first === NPC_STATE ? problem('npcState is no root.', ['state', ...more].join('.')) : null;
};

const areSwapped = (one: string, other: string): boolean => {
  if (one.length !== other.length) return false;
  const at = [...one].findIndex((unit, index) => unit !== other[index]);
  return one.slice(0, at) + one.charAt(at + 1) + one.charAt(at) + one.slice(at + 2) === other;
};

/** Whether one name is the other with a letter too few or too many, or with two neighbours swapped. */
const isClose = (one: string, other: string): boolean =>
  (one.length !== other.length && areWithin(1, one, other)) || areSwapped(one, other);

const KNOWN = [...FIRST_NAMES, NPC_STATE].map((name) => ({ name, bare: bareOf(name) }));

/** Names that stand alone are members of the state, unless they can hardly be anything but a root. */
const resembles = (written: Bare, isAlone: boolean, { name, bare }: (typeof KNOWN)[number]): boolean => {
  if (written.text === bare.text) return true;
  if (isAlone) return name === 'observation' && isClose(written.text, bare.text);
  return isClose(written.text, bare.text) || (name.length >= LONG_ROOT_CHARS && areSlips(written, bare));
};

/**
 * The problem of a path whose first name is probably a misspelt root; null if it is not. The path can be read all the same, because the state
 * rules of a set may declare a member with such a name. Any other member with such a name is written with `state.`.
 */
export const rootProblem = (key: string, isDeclared: (name: string) => boolean): Problem | null => {
  const [written = '', ...more] = key.split('.');
  const [first = ''] = written.split('[');
  if (first.length > LONGEST_NAME || RESERVED.includes(first) || USUAL_WORDS.includes(first) || isDeclared(first))
    return null;
  const bare = bareOf(first);
  const known = KNOWN.find((one) => resembles(bare, more.length === 0, one))?.name;
  if (known === undefined) return null;
  const root = known === NPC_STATE ? 'state' : known;
  return problem(
    `${shownText(first)} resembles the root ${known}. Write state.${first} for a member of the state.`,
    root === 'observation' ? root : root + key.slice(first.length),
  );
};

const misspeltMember = ([first, second = '', ...more]: readonly string[]): Problem | null => {
  if (first !== 'action' || ACTION_MEMBERS.includes(second)) return null;
  const member = ACTION_MEMBERS.find((known) => isMisspelt(second, known));
  return member === undefined
    ? null
    : problem(
        `${shownText(second)} resembles the member ${member} of an action.`,
        ['action', member, ...more].join('.'),
      );
};

/** What is wrong with one part of a path. */
const partProblem = (key: string, part: string): Problem | null => {
  if (part === '') return problem('A name in the path is empty.');
  if (part !== part.trim()) {
    const trimmed = key.split('.').map((name) => name.trim());
    return problem('A name in the path begins or ends with a space.', trimmed.join('.'));
  }
  if (NAMED.test(part)) return null;
  const [, name = '', inside = ''] = /^([^[\]]+)\[([^[\]]*)\]$/.exec(part) ?? [];
  if (name === '') return problem(`${shownText(part)} is not a name. Brackets hold a letter, as in bag[x].`);
  const meant = /^\d+$/.test(inside)
    ? `${name}.${Number(inside)}`
    : /^[A-Z]$/.test(inside)
      ? `${name}[${inside.toLowerCase()}]`
      : name;
  return problem(
    `${shownText(part)} is not a name. Brackets hold a letter, as in bag[x].`,
    key.replace(part, () => meant),
  );
};

const isRoot = (name: string): name is Root => (ROOTS as readonly string[]).includes(name);

/** Reads the key of a condition. The caller bounds its length (RULESET_BOUNDS.nameBytes). */
export const readPath = (key: string): Path | Problem => {
  const parts = key.split('.');
  for (const part of parts) {
    const wrong = partProblem(key, part);
    if (wrong !== null) return wrong;
  }
  const read = parts.map((part) => NAMED.exec(part) ?? []);
  const written = read.map(([, name = '']) => name);
  const lettered = read.flatMap(([, , letter], at) => (letter === undefined ? [] : [{ letter, at }]));
  if (lettered.length > 1) return problem('A path has at most one letter in brackets.');
  const [first = '', ...more] = written;
  const wrong = reservedName(first, more) ?? misspeltMember(written);
  if (wrong !== null) return wrong;
  if (first === 'observation' && parts.length > 1)
    return problem('The observation is a text, which has no members.', first);

  const root = first === PLAYER ? 'context' : isRoot(first) ? first : 'state';
  const names = isRoot(first) ? more : written;
  const [letter] = lettered;
  if (letter === undefined) return { root, names };
  if (isRoot(first) && letter.at === 0) return problem(`${first} is not a list.`, key.replace(/\[[a-z]\]/, ''));
  const listNames = names.length - (written.length - 1 - letter.at);
  return { root, names, letter: { name: letter.letter, listNames } };
};
