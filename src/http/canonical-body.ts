import { isUtf8 } from 'node:buffer';

import type { Sliced } from '../domain/rules/hold-patterns.js';
import { SORTED_AT_ONCE, sortedNames } from '../domain/shared/sorted-names.js';
import { MAX_DEPTH, refuseJson } from './json.js';

/** How many characters are read, or members written, before other work has its turn: about a millisecond. */
const SLICE = 32_768;

const HALF_PAIR = /\p{Surrogate}/u;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x1f]/;
const SPACES = ' \t\n\r';
const DIGITS = '0123456789+-.eE';
const WORDS = ['true', 'false', 'null'] as const;

/** An array or object whose end has not come yet. Its values are canonical texts. */
type Open =
  | { readonly kind: 'array'; readonly items: string[] }
  | { readonly kind: 'object'; readonly members: Map<string, string>; name: string };

const cannotBeParsed = (): Error => refuseJson('It cannot be parsed.');

/** The canonical form of a string token, quotes included. */
const canonicalString = (token: string, what: 'text' | 'member name'): string => {
  if (!token.includes('\\')) {
    if (CONTROL.test(token)) throw cannotBeParsed();
    return token;
  }
  let text: string;
  try {
    text = JSON.parse(token) as string;
  } catch {
    throw cannotBeParsed();
  }
  if (HALF_PAIR.test(text)) throw refuseJson(`A ${what} holds half a surrogate pair.`);
  return JSON.stringify(text);
};

/** Where the string that begins at `start` ends: behind its closing quote. */
const endOfString = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text[before] === '\\') before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  throw cannotBeParsed();
};

/** The first place from `at` on that holds none of these characters. A regular expression could run out of stack over millions of them. */
const behind = (chars: string, text: string, at: number): number => {
  let end = at;
  while (end < text.length && chars.includes(text.charAt(end))) end += 1;
  return end;
};

const memberText = (members: ReadonlyMap<string, string>, name: string): string =>
  `${JSON.stringify(name)}:${members.get(name) ?? ''}`;

/** What the end of an object makes of so many members that it takes slices. */
function* objectText(members: ReadonlyMap<string, string>): Sliced<string> {
  const texts: string[] = [];
  for (const name of yield* sortedNames([...members.keys()])) {
    texts.push(memberText(members, name));
    if (texts.length % SLICE === 0) yield SLICE;
  }
  return `{${texts.join(',')}}`;
}

const textOf = (open: Open): string => {
  if (open.kind === 'array') return `[${open.items.join(',')}]`;
  const { members } = open;
  return `{${Array.from(members.keys())
    .sort()
    .map((name) => memberText(members, name))
    .join(',')}}`;
};

/**
 * The canonical text (JCS, RFC 8785) of a JSON text, made in slices: parsing a payload of 16 MiB and writing it again would hold up everything else for
 * half a second. It refuses what `readJson` refuses (json.ts), and no less than that: also in a member that a later one of the same name replaces.
 * @throws Rejection MALFORMED_JSON, with the reason in its details
 */
export function* canonicalText(text: string): Sliced<string> {
  const stack: Open[] = [];
  let at = 0;
  let readTo = SLICE;

  const skipSpace = (): void => void (at = behind(SPACES, text, at));
  const expect = (char: string): void => {
    skipSpace();
    if (text[at] !== char) throw cannotBeParsed();
    at += 1;
  };
  const string = (what: 'text' | 'member name'): string => {
    const start = at;
    at = endOfString(text, start);
    return canonicalString(text.slice(start, at), what);
  };
  const name = (): string => {
    skipSpace();
    if (text[at] !== '"') throw cannotBeParsed();
    const found = JSON.parse(string('member name')) as string;
    if (found === '__proto__') throw refuseJson('A member has the name __proto__.');
    expect(':');
    return found;
  };
  const word = (): string => {
    const found = WORDS.find((one) => text.startsWith(one, at));
    if (found === undefined) throw cannotBeParsed();
    at += found.length;
    return found;
  };
  const number = (): string => {
    const start = at;
    at = behind(DIGITS, text, start);
    if (at === start) return word();
    let value: number;
    try {
      value = JSON.parse(text.slice(start, at)) as number;
    } catch {
      throw cannotBeParsed();
    }
    if (value - value !== 0) throw refuseJson('A number is too large.');
    return JSON.stringify(value);
  };
  /** Begins an array or object; the canonical text at once where it is empty. */
  const opened = (kind: Open['kind']): string | null => {
    if (stack.length === MAX_DEPTH) throw refuseJson(`Nested deeper than ${String(MAX_DEPTH)} levels.`);
    at += 1;
    skipSpace();
    const empty = kind === 'array' ? '[]' : '{}';
    if (text[at] === empty[1]) {
      at += 1;
      return empty;
    }
    stack.push(kind === 'array' ? { kind, items: [] } : { kind, members: new Map(), name: name() });
    return null;
  };

  for (;;) {
    if (at >= readTo) {
      readTo = at + SLICE;
      yield SLICE;
    }
    skipSpace();
    const begin = text[at];
    let value =
      begin === '{' ? opened('object') : begin === '[' ? opened('array') : begin === '"' ? string('text') : number();
    // A value may end what holds it, and that again what holds that.
    while (value !== null) {
      skipSpace();
      const holder = stack.at(-1);
      if (holder === undefined) {
        if (at !== text.length) throw cannotBeParsed();
        return value;
      }
      if (holder.kind === 'array') holder.items.push(value);
      else holder.members.set(holder.name, value);
      const next = text[at];
      at += 1;
      if (next === ',') {
        if (holder.kind === 'object') holder.name = name();
        value = null;
      } else if (next === (holder.kind === 'array' ? ']' : '}')) {
        stack.pop();
        const isLarge = holder.kind === 'object' && holder.members.size > SORTED_AT_ONCE;
        value = isLarge ? yield* objectText(holder.members) : textOf(holder);
      } else throw cannotBeParsed();
    }
  }
}

/**
 * The canonical text of a body's bytes.
 * @throws Rejection MALFORMED_JSON as `canonicalText`
 */
export function* canonicalBody(bytes: Buffer): Sliced<string> {
  if (!isUtf8(bytes)) throw refuseJson('The bytes are not UTF-8.');
  return yield* canonicalText(bytes.toString('utf8'));
}
