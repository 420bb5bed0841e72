/** An object in a text that may only resemble JSON, as found by one lenient scan from left to right. */
export type ScannedObject = {
  readonly start: number;
  /** The position after its closing brace; -1 if the text breaks off within it. */
  end: number;
  /** Whether one of its own members is among the requested names. */
  answers: boolean;
  /** How many of them are. */
  members: number;
  /** The position after its last complete member; -1 if none is complete. */
  complete: number;
  /** The object that contains it as a value, through any number of nested lists. */
  readonly within: ScannedObject | null;
  /** The positions where quoted strings open and end, pair by pair, in everything that was scanned with it. */
  readonly quotes: readonly number[];
};

/** The longest member name that is looked at, in characters. */
const NAME_CHARS = 32;

const code = (char: string): number => char.charCodeAt(0);
const OPEN = code('{');
const CLOSE = code('}');
const OPEN_LIST = code('[');
const CLOSE_LIST = code(']');
const COMMA = code(',');
const COLON = code(':');
const BACKSLASH = code('\\');
const NEW_LINE = code('\n');
/** Opening quotes and the quotes that close them. Models also write single and typographic quotes. */
const CLOSERS: ReadonlyMap<number, number> = new Map(
  ['""', "''", '``', '“”', '‘’'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]),
);
const isSpace = (char: number): boolean => char === 32 || (char >= 9 && char <= 13);
const isMark = (char: number): boolean =>
  char === OPEN || char === CLOSE || char === COMMA || char === COLON || char === OPEN_LIST || char === CLOSE_LIST;
/** The codes of quotes are in three ranges, so most characters need no map lookup. */
const mayQuote = (char: number): boolean => char === 34 || char === 39 || char === 96 || char >= 0x2018;

/** Whether the quote before `from` ends its string: it is followed by something that may follow a value, or by another value on a new line. */
const endsText = (text: string, from: number): boolean => {
  let newLine = false;
  for (let at = from; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (isSpace(char)) newLine ||= char === NEW_LINE;
    else {
      const follows = char === COMMA || char === COLON || char === CLOSE || char === CLOSE_LIST;
      return follows || (newLine && CLOSERS.has(char));
    }
  }
  return true;
};

/** The quote that ends the string opened at `open`; -1 if the text breaks off. Quotes inside the string need no backslash. */
const closingQuote = (text: string, open: number): number => {
  const closer = CLOSERS.get(text.charCodeAt(open));
  for (let at = open + 1; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === BACKSLASH) at += 1;
    else if (char === closer && endsText(text, at + 1)) return at;
  }
  return -1;
};

/** The last token: nothing relevant, a mark, a complete value, or a bare word. */
type Before = '' | '{' | '[' | ',' | ':' | 'value' | 'word';
const startsValue = (before: Before): boolean => before === ':' || before === '[' || before === ',';

/**
 * Reads the object that opens at `start`, leniently: names without quotes, quotes within quotes and missing commas are understood. It reads valid
 * JSON exactly.
 * @param asked the names of members that make an object an answer
 * @returns the object and all objects in it, by position, and how many characters were looked at
 */
export const scanObjects = (
  text: string,
  start: number,
  asked: ReadonlySet<string>,
): { readonly found: readonly ScannedObject[]; readonly looked: number } => {
  const found: ScannedObject[] = [];
  const quotes: number[] = [];
  /** The open objects, and `null` for open lists. */
  const open: (ScannedObject | null)[] = [];
  /** The objects among them. */
  const objects: ScannedObject[] = [];
  /** The open objects in which the value of a member has begun. */
  const valuing = new Set<ScannedObject>();
  let before: Before = '';
  let name = '';

  const ended = (at: number): void => {
    const top = open.at(-1) ?? null;
    if (top !== null && valuing.delete(top)) top.complete = at;
    before = 'value';
  };
  let at = start;
  while (at < text.length) {
    const char = text.charCodeAt(at);
    if (isSpace(char)) {
      at += 1;
    } else if (before !== 'word' && mayQuote(char) && CLOSERS.has(char)) {
      const close = closingQuote(text, at);
      if (close === -1) return { found, looked: text.length - start };
      quotes.push(at, close);
      name = before === ':' || close - at > NAME_CHARS ? '' : text.slice(at + 1, close);
      at = close + 1;
      ended(at);
    } else if (!isMark(char)) {
      const first = at;
      while (at < text.length && !isSpace(text.charCodeAt(at)) && !isMark(text.charCodeAt(at))) at += 1;
      name = before === 'word' || before === ':' || at - first > NAME_CHARS ? '' : text.slice(first, at);
      before = 'word';
    } else {
      const top = open.at(-1) ?? null;
      at += 1;
      if (char === OPEN) {
        const within = startsValue(before) ? (objects.at(-1) ?? null) : null;
        const object: ScannedObject = {
          start: at - 1,
          end: -1,
          answers: false,
          members: 0,
          complete: -1,
          within,
          quotes,
        };
        found.push(object);
        open.push(object);
        objects.push(object);
        before = '{';
      } else if (char === OPEN_LIST) {
        open.push(null);
        before = '[';
      } else if (char === COLON) {
        if (top !== null) {
          if (asked.has(name)) {
            top.answers = true;
            top.members += 1;
          }
          valuing.add(top);
        }
        before = ':';
      } else if (char === COMMA) {
        if (top !== null && valuing.delete(top)) top.complete = at - 1;
        before = ',';
      } else if (char === CLOSE_LIST) {
        if (top === null && open.length > 0) open.pop();
        ended(at);
      } else {
        while (open.length > 0 && open.at(-1) === null) open.pop();
        const object = open.pop();
        objects.pop();
        if (object !== null && object !== undefined) object.end = at;
        if (open.length === 0) break;
        ended(at);
      }
      name = '';
    }
  }
  return { found, looked: at - start };
};
