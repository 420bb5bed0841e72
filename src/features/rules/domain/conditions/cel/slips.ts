/** Something that belongs to another language, and the text that belongs there in CEL; without it, no text can be told. */
export type Slip = { readonly written: string; readonly at: number };

/** What is looked at: texts, words, and marks. */
const TOKEN =
  /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[“„][^“”„]*[“”]|[‘‚][^‘’‚]*[’‘]|\bnot\s+in\b|[A-Za-z_]\w*|===|!==|==|!=|>=|<=|=>|=<|<>|&&|\|\||[=&|;≥≤≠≧≦]/giu;

const MARKS: Readonly<Record<string, string>> = {
  and: '&&',
  or: '||',
  '&': '&&',
  '|': '||',
  '=': '==',
  '===': '==',
  '!==': '!=',
  '<>': '!=',
  '=>': '>=',
  '=<': '<=',
  '≥': '>=',
  '≧': '>=',
  '≤': '<=',
  '≦': '<=',
  '≠': '!=',
  ';': '',
};

/** What can follow `not`, so that `!` in its place means the same. */
const NEGATED = /^\s*(?:\(|[\w.]+\s*(?:$|\)|&&|\|\||and\b|or\b))/i;

/** What belongs in the place of a token; undefined if it is right, null if that cannot be told. */
const insteadOf = (token: string, rest: string): string | null | undefined => {
  const word = token.toLowerCase();
  if (Object.hasOwn(MARKS, word)) return MARKS[word];
  if (word === 'not') return NEGATED.test(rest) ? '!' : null;
  if (/^not\s/.test(word)) return null;
  return /^[“„‘‚]/.test(token) ? JSON.stringify(token.slice(1, -1)) : undefined;
};

/** Looks for what other languages write, in a text that is no expression. @returns the first of it, and the text without any */
export const findSlips = (text: string): { readonly first: Slip; readonly mended: string | null } | null => {
  let first: Slip | null = null;
  let mended: string | null = '';
  let from = 0;
  for (const { 0: token, index: at } of text.matchAll(TOKEN)) {
    const end = at + token.length;
    const instead = insteadOf(token, text.slice(end));
    if (instead === undefined) continue;
    first ??= { written: token, at };
    mended = mended === null || instead === null ? null : mended + text.slice(from, at) + instead;
    from = instead === '!' ? end + (/^\s*/.exec(text.slice(end))?.[0].length ?? 0) : end;
  }
  return first === null ? null : { first, mended: mended === null ? null : (mended + text.slice(from)).trim() };
};
