import type { Sliced } from './sliced.js';
import { MAX_DEPTH, MODEL_TEXTS, refuseInteger, refuseJson, refuseTwice } from './refuse-json.js';
import { isExact } from './scan-json.js';
import { SORTED_AT_ONCE, sortedNames } from './sorted-names.js';

/** How many characters are read or members written before yielding: about a millisecond. */
const SLICE = 32_768;

// eslint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x1f]/;
const SPACES = ' \t\n\r';
const DIGITS = '0123456789+-.eE';
const WORDS = ['true', 'false', 'null'] as const;

/** An array or object that is still open. Its values are canonical texts. */
type Open =
  | { readonly kind: 'array'; readonly items: string[] }
  | { readonly kind: 'object'; readonly members: Map<string, string>; name: string };

/** Where a text stops being JSON, as editors count: lines and columns from 1. */
const notJson = (text: string, at: number): Error => {
  if (at >= text.length) return refuseJson('The JSON ends too early.');
  const before = text.lastIndexOf('\n', at - 1);
  let line = 1;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) line += 1;
  return refuseJson(`The JSON is invalid at line ${String(line)}, column ${String(at - before)}.`);
};

/** The canonical form of a string token, with quotes; null if the token is not a string. */
const canonicalString = (token: string, what: 'string' | 'member name' | 'model text'): string | null => {
  if (!token.includes('\\')) return CONTROL.test(token) ? null : token;
  let text: string;
  try {
    text = JSON.parse(token) as string;
  } catch {
    return null;
  }
  if (what === 'model text') text = text.toWellFormed();
  if (!text.isWellFormed()) throw refuseJson(`A ${what} contains half a surrogate pair.`);
  return JSON.stringify(text);
};

/** The end of the string that starts at `start`, after its closing quote; the end of the text if the quote is missing. */
const endOfString = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text[before] === '\\') before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return text.length;
};

/** The first place from `at` on that holds none of these characters. A regular expression could run out of stack over millions of them. */
const behind = (chars: string, text: string, at: number): number => {
  let end = at;
  while (end < text.length && chars.includes(text.charAt(end))) end += 1;
  return end;
};

const memberText = (members: ReadonlyMap<string, string>, name: string): string =>
  `${JSON.stringify(name)}:${members.get(name) ?? ''}`;

/** Writes an object whose members are so many that it takes several slices. */
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
 * half a second. It refuses what `readJson` refuses (read-json.ts), and says where.
 * @throws Rejection MALFORMED_JSON, with the reason in its details
 */
export function* canonicalText(text: string): Sliced<string> {
  const stack: Open[] = [];
  let at = 0;
  let readTo = SLICE;

  const wrongAt = (place = at): Error => notJson(text, place);
  const skipSpace = (): void => void (at = behind(SPACES, text, at));
  const expect = (char: string): void => {
    skipSpace();
    if (text[at] !== char) throw wrongAt();
    at += 1;
  };
  const string = (what: 'string' | 'member name' | 'model text'): string => {
    const start = at;
    at = endOfString(text, start);
    const canonical = text[at - 1] === '"' && at > start + 1 ? canonicalString(text.slice(start, at), what) : null;
    if (canonical === null) throw wrongAt(at === text.length ? at : start);
    return canonical;
  };
  const name = (): string => {
    skipSpace();
    if (text[at] !== '"') throw wrongAt();
    const found = JSON.parse(string('member name')) as string;
    if (found === '__proto__') throw refuseJson('A member is named __proto__, which is not allowed.');
    expect(':');
    return found;
  };
  const word = (): string => {
    const found = WORDS.find((one) => text.startsWith(one, at));
    if (found === undefined) throw wrongAt();
    at += found.length;
    return found;
  };
  const number = (): string => {
    const start = at;
    at = behind(DIGITS, text, start);
    if (at === start) return word();
    const literal = text.slice(start, at);
    let value: number;
    try {
      value = JSON.parse(literal) as number;
    } catch {
      throw wrongAt(start);
    }
    if (value - value !== 0) throw refuseJson('A number is too large.');
    if (!isExact(literal)) throw refuseInteger(literal);
    return JSON.stringify(value);
  };
  const textKind = (): 'string' | 'model text' => {
    const holder = stack.at(-1);
    return holder?.kind === 'object' && MODEL_TEXTS.has(holder.name) ? 'model text' : 'string';
  };
  /** Begins an array or object; returns its canonical text if it is empty. */
  const opened = (kind: Open['kind']): string | null => {
    if (stack.length === MAX_DEPTH) throw refuseJson(`The JSON is nested deeper than ${String(MAX_DEPTH)} levels.`);
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
      begin === '{'
        ? opened('object')
        : begin === '['
          ? opened('array')
          : begin === '"'
            ? string(textKind())
            : number();
    // A value may close its container, which may close the next one.
    while (value !== null) {
      skipSpace();
      const holder = stack.at(-1);
      if (holder === undefined) {
        if (at !== text.length) throw wrongAt();
        return value;
      }
      if (holder.kind === 'array') holder.items.push(value);
      else if (holder.members.has(holder.name)) throw refuseTwice(holder.name);
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
      } else throw wrongAt(at - 1);
    }
  }
}
