import type { Order } from './alternatives.js';
import { writtenNumber } from './numbers.js';
import { type Problem, problem, shownText } from './problem.js';
import { behindQuoted, endOfGroup } from './split-value.js';

/** What an operator is taken for, by its signs without spaces. An empty one means equality. */
const OPERATORS: Readonly<Record<string, string>> = {
  ...{ '<': '<', '<=': '<=', '>': '>', '>=': '>=', '!=': '!=' },
  ...{ '=': '', '==': '', '===': '', '!': '!=', '!==': '!=', '<>': '!=', '><': '!=', '=>': '>=', '=<': '<=' },
  ...{ '≥': '>=', '≧': '>=', '≤': '<=', '≦': '<=', '≠': '!=', '＜': '<', '＞': '>', '＝': '', '！': '!=' },
};
const SIGNS = /^[<>=!≥≧≤≦≠＜＞＝！\s]+/;

/** The operator that a text begins with: what it is taken for, whether it is written like that, and the text behind it. */
export const operatorOf = (
  text: string,
): { readonly operator: string | undefined; readonly isExact: boolean; readonly rest: string } | null => {
  const signs = SIGNS.exec(text)?.[0].trimEnd() ?? '';
  if (signs === '') return null;
  const written = signs.replaceAll(/\s/g, '');
  const operator = Object.hasOwn(OPERATORS, written) ? OPERATORS[written] : undefined;
  return { operator, isExact: operator === signs, rest: text.slice(signs.length).trim() };
};

/** A number at the beginning of a text, however it is written: `+5`, `05`, `.5`, `5.`, `1,000`. */
const LOOSE_NUMBER = /^([+-]?)(\d{1,3}(?:[,_]\d{3})+|\d*)(?:\.(?!\.)(\d*))?/;

/** The number at the beginning of a text, written as it should be, and how much of the text it is; null if there is none. */
const looseNumber = (text: string): { readonly number: string; readonly length: number } | null => {
  const [all = '', sign = '', whole = '', fraction = ''] = LOOSE_NUMBER.exec(text) ?? [];
  if (whole === '' && fraction === '') return null;
  const digits = whole.replaceAll(/[,_]/g, '').replace(/^0+(?=\d)/, '') || '0';
  return { number: `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}`, length: all.length };
};

/** `0,5` and `1.000,50`: a decimal, or two numbers. Three digits behind a comma are thousands. */
const DECIMAL_COMMA = /^[+-]?\d+(?:\.\d+)?,(?:\d{1,2}|\d{4,})$/;

const isNumber = (text: string): boolean => writtenNumber(text) !== null;

/** `8,<18` behind an order: its number, and a second order. */
const SECOND_ORDER = /^([^\s,;&<>=]+)(?:[,;&\s]|and\b)*(<=|>=|<|>)\s*(\S+)$/i;
/** `22 or <5` and `5 or 6` behind an order. */
const EITHER_ORDER = /^(\S+)\s+or\s+((?:(?:<=|>=|<|>)\s*)?\S+)$/i;

/** Two conditions on the same key; undefined if the key is not known. */
const twoConditions = (key: string | null, one: string, other: string): string | undefined =>
  key === null ? undefined : `${JSON.stringify([key, one])}, ${JSON.stringify([key, other])}`;

/** A lower and an upper limit, such as `>=8` and `<18`: how they are combined; undefined if nothing can be meant. */
const limitsMeant = (key: string | null, lower: string, upper: string): string | undefined => {
  const [from, to] = [lower.replace(/^>=?/, ''), upper.replace(/^<=?/, '')];
  if (Number(from) > Number(to)) return `${lower}|${upper}`;
  const areIncluded = lower.startsWith('>=') && upper.startsWith('<=');
  if (areIncluded) return `${from}..${to}`;
  return Number(from) === Number(to) ? undefined : twoConditions(key, lower, upper);
};

/** Two orders: as one range, as two conditions on the same key, or as alternatives if both can never hold; null if there are not two. */
const bothOrders = (
  key: string | null,
  first: Order,
  rest: string,
): { readonly meant: string | undefined; readonly areAlternatives: boolean } | null => {
  const [, one = '', second = '', other = ''] = SECOND_ORDER.exec(rest) ?? [];
  if (!isNumber(one) || !isNumber(other)) return null;
  const [left, right] = [first + one, second + other];
  const isOpposite = left.startsWith('>') !== right.startsWith('>');
  const meant = !isOpposite
    ? twoConditions(key, left, right)
    : left.startsWith('>')
      ? limitsMeant(key, left, right)
      : limitsMeant(key, right, left);
  return { meant, areAlternatives: meant?.includes('|') === true };
};

const noOr = (meant: string | undefined): Problem =>
  problem('A value has no "or". Alternatives are separated by |.', meant);

/** The problem of an order whose operand is no number. @param key the key of the condition, if the order is its whole value */
export const orderProblem = (key: string | null, order: Order, operand: string): Problem => {
  if (operand === '') return problem(`Nothing follows ${order}.`);
  const [, one, other] = EITHER_ORDER.exec(operand) ?? [];
  if (one !== undefined && other !== undefined) return noOr(`${order}${one}|${other}`);
  const both = bothOrders(key, order, operand);
  if (both?.areAlternatives === true)
    return problem(
      'A value has no "and", and no number satisfies both orders. Alternatives are separated by |.',
      both.meant,
    );
  if (both !== null) return problem('A value has no "and". Both orders are conditions of their own.', both.meant);
  if (DECIMAL_COMMA.test(operand)) return problem(`${shownText(operand)} is not written like a JSON number.`);
  const number = looseNumber(operand)?.number;
  return number === undefined
    ? problem(
        `${shownText(operand)} is not a number, and a text in an order is quoted.`,
        order + JSON.stringify(operand),
      )
    : problem(`${shownText(operand)} is not written like a JSON number.`, order + number);
};

const WORDS: Readonly<Record<string, string>> = {
  gt: '>',
  gte: '>=',
  ge: '>=',
  lt: '<',
  lte: '<=',
  le: '<=',
  eq: '',
  ne: '!=',
};
const WORD = /^([a-z]{2,3})\s+(\S+)$/i;
const NOT = /^not\s+(\S.*)$/isu;
const COUNT = /^count\s*((?:[<>=!≥≤≠]\s*)+\d+)$/i;
/** A time of day: `05`, `5:00`, `22h`, `22h30`, `10pm`, `10:30 p.m.`. */
const TIME = String.raw`\d{1,2}(?:[:h]\d{2})?\s?(?:h|[ap]\.?m\.?)?`;
const DASHED = new RegExp(
  String.raw`^(-?\d+(?:\.\d+)?|${TIME})\s{0,3}(?:[-–—]|\.{2,})\s{0,3}(\d+(?:\.\d+)?|${TIME})$`,
  'i',
);
const CLOCK = /^(\d{1,2})(?:[:h](\d{2}))?\s?(?:h|([ap])\.?m\.?)?$/i;
const QUARTERS: Readonly<Record<string, string>> = { '00': '', '15': '.25', '30': '.5', '45': '.75' };
const [NOON, LAST_HOUR] = [12, 24];
/** Words around numbers: `between 8 and 19`, `8 to 19`, `at least 5`. */
const BETWEEN =
  /^(?:(?:from\s{1,3})?(\S+(?: [ap]\.?m\.?)?)\s{1,3}(?:to|until|till|through)|between\s{1,3}(\S+(?: [ap]\.?m\.?)?)\s{1,3}and)\s{1,3}(\S+(?: [ap]\.?m\.?)?)$/i;
const MEASURES: readonly (readonly [pattern: RegExp, order: Order])[] = [
  [/^(?:at least|not less than|minimum|min)\s+(\S+)$/i, '>='],
  [/^(?:at most|not more than|up to|maximum|max)\s+(\S+)$/i, '<='],
  [/^(?:more than|greater than|higher than|over|above)\s+(\S+)$/i, '>'],
  [/^(?:less than|fewer than|lower than|under|below)\s+(\S+)$/i, '<'],
  [/^(\S+)(?:\s+or\s+(?:more|above|higher)|\s*\+)$/i, '>='],
  [/^(\S+)\s+or\s+(?:less|fewer|below|lower)$/i, '<='],
];
const OTHER_QUOTES = /^(?:'.*'|‘.*’|“.*”|„.*[“”]|«.*»)$/su;

/** `..5`, `5..`, `5...9` and `5 .. 9`. */
const dottedProblem = (text: string): Problem | null => {
  const dots = text.indexOf('..');
  if (dots === -1) return null;
  const [before, behind] = [text.slice(0, dots).trim(), text.slice(dots).replace(/^\.+/, '').trim()];
  const numbers = [before, behind].map((side) => {
    const found = looseNumber(side);
    return found?.length === side.length ? found.number : undefined;
  });
  const [from, to] = numbers;
  if (from !== undefined && to !== undefined) return problem('A range is written like 5..9.', `${from}..${to}`);
  if (from !== undefined && behind === '') return problem('A range has two ends.', `>=${from}`);
  return to !== undefined && before === '' ? problem('A range has two ends.', `<=${to}`) : null;
};

/** The number of hours of a time of day; null if there is no such time, or if the number is no simple one. */
const hoursOf = ([, written = '', minutes = '00', half]: RegExpExecArray): string | null => {
  const hour = Number(written);
  const later = half?.toLowerCase() === 'p' ? NOON : 0;
  const hours = half === undefined ? hour : (hour % NOON) + later;
  const quarters = QUARTERS[minutes];
  const isTime = half === undefined ? hour <= LAST_HOUR : hour >= 1 && hour <= NOON;
  return quarters !== undefined && isTime ? `${hours}${quarters}` : null;
};

/** Two numbers, or two times of day, with a dash, dots or words between them. An end is null if no number says it. */
type Span = { readonly from: string | null; readonly to: string | null; readonly areTimes: boolean };

/** Numbers are what they are, unless the other end can only be a time: `22` of `22-05`. */
const spanOf = (left: string, right: string): Span | null => {
  if (isNumber(left) && isNumber(right))
    return Number(left) === Number(right) ? null : { from: left, to: right, areTimes: false };
  const [one, other] = [CLOCK.exec(left), CLOCK.exec(right)];
  if (one === null || other === null) return null;
  const [from, to] = [hoursOf(one), hoursOf(other)];
  return from !== null && from === to ? null : { from, to, areTimes: true };
};

/** The span that `5-9`, `22-05`, `22:00..05:00` or `10pm-5am` stands for; null if it is none. */
export const spanIn = (text: string): Span | null => {
  const [, left = '', right = ''] = DASHED.exec(text) ?? [];
  return spanOf(left, right);
};

/** Whether a span ends on the next day. Of mere numbers, only those from the evening to the morning are taken for hours. */
const isOverNight = (from: number, to: number, areTimes: boolean): boolean =>
  areTimes ? from > to : from >= NOON && from <= LAST_HOUR && to >= 0 && to < NOON;

/** The problem of a span. One from the evening to the morning goes across midnight. */
export const spanProblem = ({ from, to, areTimes }: Span): Problem => {
  if (from === null || to === null)
    return problem('Times are written as numbers of hours, such as 22.5, and a span of them like 5..9.');
  if (Number(from) <= Number(to)) return problem('A range is written like 5..9.', `${from}..${to}`);
  return isOverNight(Number(from), Number(to), areTimes)
    ? problem(
        'A range begins with the smaller number. From the evening to the morning, it is two orders. Quote a score or a date.',
        `>=${from}|<=${to}`,
      )
    : problem('A range begins with the smaller number.', `${to}..${from}`);
};

/** What is outside a span. Outside one across midnight is a range without its ends, which takes two conditions. */
export const outsideSpan = (key: string | null, { from, to, areTimes }: Span): string | undefined => {
  if (from === null || to === null) return undefined;
  if (Number(from) <= Number(to)) return `<${from}|>${to}`;
  return isOverNight(Number(from), Number(to), areTimes) ? twoConditions(key, `>${to}`, `<${from}`) : `<${to}|>${from}`;
};

const wordProblem = (text: string): Problem | null => {
  const [, word = '', operand = ''] = WORD.exec(text) ?? [];
  const sign = Object.hasOwn(WORDS, word.toLowerCase()) ? WORDS[word.toLowerCase()] : undefined;
  if (sign !== undefined && isNumber(operand)) return problem(`${word} is not an operator.`, sign + operand);
  const [, negated] = NOT.exec(text) ?? [];
  if (negated !== undefined) return problem('not is not an operator.', `!=${negated}`);
  const [, counted] = COUNT.exec(text) ?? [];
  return counted === undefined ? null : problem('count is followed by brackets.', `count() ${counted}`);
};

/** Numbers in words. A game's own texts hardly ever read like this. */
const measureProblem = (text: string): Problem | null => {
  const [, before, between, right = ''] = BETWEEN.exec(text) ?? [];
  const left = before ?? between ?? '';
  const span = spanOf(left, right);
  if (span !== null) return spanProblem(span);
  for (const [pattern, order] of MEASURES) {
    const number = pattern.exec(text)?.[1];
    if (number !== undefined && isNumber(number))
      return problem('An order is written with <, <=, > or >=.', order + number);
  }
  return null;
};

/** The pieces of a text that `,`, `;`, `|` or "or" separate outside quotes, where `|` belongs. It passes the text once, however many spaces it has. */
const piecesOf = (text: string): { readonly pieces: readonly string[]; readonly hasOr: boolean } => {
  const pieces: string[] = [];
  let hasOr = false;
  let [from, at] = [0, 0];
  const end = (length: number): void => {
    pieces.push(text.slice(from, at).trim());
    at += length;
    from = at;
  };
  while (at < text.length) {
    const unit = text.charAt(at);
    if (unit === '"') at = behindQuoted(text, at);
    else if (unit === ',' || unit === ';' || unit === '|') end(1);
    else if (/^\sor\s/i.test(text.slice(at, at + ' or '.length))) {
      hasOr = true;
      end(' or'.length);
    } else at += 1;
  }
  end(0);
  return { pieces: pieces.filter((piece) => piece !== ''), hasOr };
};

/** What begins like a text. */
const LIKE_TEXT = /^[\p{L}_([{]/u;

/** A text that begins with a bracket, such as `[a, b]`, `(a|b)` and `(5)`. */
const bracketProblem = (text: string): Problem | null => {
  if (!/^[[({]/.test(text)) return null;
  const message = 'A value has no brackets around its alternatives. Quote a text with brackets.';
  const end = endOfGroup(text, 0);
  if (end === text.length || / or /i.test(text.slice(end))) return problem(message);
  const { pieces } = piecesOf(end === text.length - 1 ? text.slice(1, -1) : text);
  const [first = ''] = pieces;
  const isText = end < text.length - 1 || (pieces.length === 1 && LIKE_TEXT.test(first));
  return problem(message, isText ? JSON.stringify(text) : pieces.join('|'));
};

/** A piece of a list as it is written outside one: a number, a range or a truth value; undefined if it is anything else. */
const plainPiece = (piece: string): string | undefined => {
  if (isNumber(piece) || piece === 'true' || piece === 'false') return piece;
  const span = spanIn(piece);
  return (span === null ? dottedProblem(piece) : spanProblem(span))?.meant;
};

const isQuoted = (piece: string): boolean => piece.startsWith('"') && behindQuoted(piece, 0) === piece.length;

/** `5, 6`, `5 or red`, `a, "b"` and `1,000`. A text with a comma is a text, such as `Smith, John`. */
const listProblem = (text: string): Problem | null => {
  const loose = looseNumber(text);
  if (loose?.length === text.length && /[,_]/.test(text))
    return problem(`${shownText(text)} is not written like a JSON number.`, loose.number);
  if (DECIMAL_COMMA.test(text)) return problem('Alternatives are separated by |, and decimals have a point.');
  const { pieces, hasOr } = piecesOf(text);
  if (pieces[0] === text || pieces.length === 0) return null;
  const plain = pieces.map(plainPiece);
  const areNumbers = pieces.every(
    (piece, at) => plain[at] !== undefined || looseNumber(piece)?.length === piece.length,
  );
  const isList = areNumbers || pieces.some(isQuoted);
  if (!isList && !(hasOr && plain.some((piece) => piece !== undefined))) return null;
  const isUnclear = areNumbers && plain.includes(undefined);
  const meant = isUnclear ? undefined : pieces.map((piece, at) => plain[at] ?? piece).join('|');
  return hasOr ? noOr(meant) : problem('Alternatives are separated by |.', meant);
};

/** `in [a, b]`. */
const inProblem = (text: string): Problem | null => {
  const [, list] = /^in\s*([[({].*)$/isu.exec(text) ?? [];
  return list === undefined ? null : problem('in is not an operator.', bracketProblem(list)?.meant);
};

/** Numbers with commas in them, `1,000`. */
const GROUPED = /(?<![\d,.])\d{1,3}(?:,\d{3})+(?!\d|,\d)/g;

/** The problem of a text in which something is written in another way: with full-width signs, or with commas in numbers. */
const rewrittenProblem = (text: string): Problem | null => {
  const narrow = text.normalize('NFKC');
  const plain = text.includes('"') ? narrow : narrow.replaceAll(GROUPED, (number) => number.replaceAll(',', ''));
  if (narrow !== text && narrow.includes('|') && !text.includes('|'))
    return problem('Alternatives are separated by |.', narrow);
  const found =
    plain === text ? null : (problemAsWritten(plain) ?? (narrow === text ? null : problemAsWritten(narrow)));
  const isWhole = found?.meant === JSON.stringify(plain) || found?.meant === JSON.stringify(narrow);
  return found !== null && isWhole ? problem(found.message, JSON.stringify(text)) : found;
};

const problemAsWritten = (text: string): Problem | null => {
  if (/^null$/i.test(text)) return problem('null is nothing, and nothing is written !.', '!');
  if (text.startsWith('~')) return problem('~ is not an operator. Quote a text that begins with it.');
  if (OTHER_QUOTES.test(text))
    return problem('A quoted text has straight double quotes.', JSON.stringify(text.slice(1, -1)));
  const bracketed = bracketProblem(text);
  if (bracketed !== null) return bracketed;
  if (text.includes('*'))
    return problem(
      '* matches anything only alone. Quote a text that contains it; a condition in CEL has startsWith for parts of texts.',
    );
  const span = spanIn(text);
  if (span !== null) return spanProblem(span);
  return measureProblem(text) ?? listProblem(text) ?? dottedProblem(text) ?? inProblem(text) ?? wordProblem(text);
};

/** Why a text is not taken as it is: because it looks like an operator; null if it does not. */
export const textProblem = (text: string): Problem | null => rewrittenProblem(text) ?? problemAsWritten(text);
