import { isMisspelt } from '../../../../kernel/base/alike.js';
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
/** Shorter roots resemble too many names of members. */
const LONG_ROOT_CHARS = 6;
/** `player` is `context.player`. */
const PLAYER = 'player';
const FIRST_NAMES: readonly string[] = [...ROOTS, PLAYER];

const NAMED = /^([^[\]]+)(?:\[([a-z])\])?$/;

/** The first of some names, if it is a misspelt root; a member of the state with such a name is written with `state.`. */
const misspeltRoot = (first: string, more: readonly string[]): Problem | null => {
  if (first === 'cel') return problem('cel is reserved. Write state.cel for a member of the state.');
  if (first === 'npcState') return problem('npcState is no root.', ['state', ...more].join('.'));
  if (FIRST_NAMES.includes(first)) return null;
  const root = FIRST_NAMES.find(
    (known) =>
      known === first.toLowerCase() || (more.length > 0 && known.length >= LONG_ROOT_CHARS && isMisspelt(first, known)),
  );
  if (root === undefined) return null;
  return problem(
    `${shownText(first)} resembles the root ${root}. Write state.${first} for a member of the state.`,
    [root, ...more].join('.'),
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
  const wrong = misspeltRoot(first, more) ?? misspeltMember(written);
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
