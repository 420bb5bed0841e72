/** Where a quoted text ends: behind its closing quote, or at the end if it has none. */
export const behindQuoted = (text: string, open: number): number => {
  let at = open + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, text.length);
};

/** What may stand before an operand: a quote behind it begins a quoted text, any other quote is a letter. */
const BEFORE_OPERAND = /[\s<>=!]/;

/** Calls `visit` for each unit of a text that no quotes enclose, until it returns true. @returns where it did, or the length of the text */
const outsideQuotes = (text: string, from: number, visit: (unit: string, at: number) => boolean): number => {
  let mayQuote = true;
  for (let at = from; at < text.length;) {
    const unit = text.charAt(at);
    if (unit === '"' && mayQuote) {
      at = behindQuoted(text, at);
      mayQuote = false;
    } else {
      if (visit(unit, at)) return at;
      mayQuote = unit === '|' || unit === '(' || (mayQuote && BEFORE_OPERAND.test(unit));
      at += 1;
    }
  }
  return text.length;
};

/** A word with a bracket behind it, which is a function or looks like one. */
const CALL = /^\s*(?:[A-Za-z_]+|(?:any|none|all|count) +)$/i;

/** Where the brackets end that open at `open`; the length of the text if they do not. */
export const endOfBrackets = (text: string, open: number): number =>
  outsideQuotes(text, open + 1, (unit) => unit === ')');

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Where a group of alternatives ends, `[a|b]`, though a value has no such groups; the length of the text if it does not. */
export const endOfGroup = (text: string, open: number): number => {
  const [opening = '', closing] = [text[open], CLOSING[text[open] ?? '']];
  let depth = 0;
  let mayQuote = true;
  for (let at = open; at < text.length;) {
    const unit = text.charAt(at);
    if (unit === opening) depth += 1;
    else if (unit === closing) depth -= 1;
    if (depth === 0) return at;
    const isQuote = unit === '"' && mayQuote;
    mayQuote = /[[({|,;]/.test(unit) || (mayQuote && BEFORE_OPERAND.test(unit));
    at = isQuote ? behindQuoted(text, at) : at + 1;
  }
  return text.length;
};

/** What may stand before a group. */
const BEFORE_GROUP = /^[\s<>=!]*(?:(?:not +)?in *)?$/i;

/** The alternatives of a value as they are written, without the spaces around them. A `|` in quotes or brackets separates none. */
export const splitValue = (value: string): readonly string[] => {
  const pieces: string[] = [];
  let from = 0;
  let inside = -1;
  outsideQuotes(value, 0, (unit, at) => {
    if (at <= inside) return false;
    if (unit === '(' && CALL.test(value.slice(from, at))) inside = endOfBrackets(value, at);
    else if (Object.hasOwn(CLOSING, unit) && BEFORE_GROUP.test(value.slice(from, at))) inside = endOfGroup(value, at);
    else if (unit === '|') {
      pieces.push(value.slice(from, at).trim());
      from = at + 1;
    }
    return false;
  });
  return [...pieces, value.slice(from).trim()];
};
