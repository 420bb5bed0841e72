import { areWithin } from '../../../../kernel/base/slips.js';
import type { Alternative, CountComparison, ElementAlternative, Operand, Order } from './alternatives.js';
import { operatorOf, orderProblem, outsideSpan, spanIn, spanProblem, textProblem } from './look-alikes.js';
import { compareQuantities, writtenNumber } from './numbers.js';
import { isProblem, type Problem, problem, shownText } from './problem.js';
import { endOfBrackets, splitValue } from './split-value.js';

const FUNCTIONS = ['any', 'none', 'all', 'count'] as const;
type FunctionName = (typeof FUNCTIONS)[number];

/** The text that a JSON string stands for; null if it is none. */
const unquoted = (written: string): string | null => {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
};

/** The elements of a list of JSON values written without its brackets; null if it is none. */
const listed = (written: string): readonly unknown[] | null => {
  try {
    return JSON.parse(`[${written}]`) as readonly unknown[];
  } catch {
    return null;
  }
};

/** `"a", "b"` as alternatives; undefined for anything else. */
const quotedTexts = (written: string): string | undefined => {
  const values = listed(written);
  return values?.every((value) => typeof value === 'string') === true
    ? values.map((value) => JSON.stringify(value)).join('|')
    : undefined;
};

const quotedText = (written: string): string | Problem => {
  const text = unquoted(written);
  if (text !== null) return text;
  const several = quotedTexts(written);
  if (several !== undefined) return problem('Alternatives are separated by |.', several);
  return unquoted(`${written}"`) === null
    ? problem(`${shownText(written)} is not a JSON string with nothing behind it.`)
    : problem('The closing quote is missing.', `${written}"`);
};

/** A quoted text, or a text that does not look like anything else. */
const operandOf = (written: string): Operand | Problem => {
  if (written.startsWith('"')) {
    const text = quotedText(written);
    return typeof text === 'string' ? { text, isQuoted: true, quantity: null } : text;
  }
  return (
    textProblem(written) ?? callProblem(written) ?? { text: written, isQuoted: false, quantity: writtenNumber(written) }
  );
};

const CALL = /^([A-Za-z_]+)( *)\(/;

/** A word with brackets that is no function. */
const callProblem = (written: string): Problem | null => {
  const [, name = '', spaces = ''] = CALL.exec(written) ?? [];
  if (name === '' || (spaces !== '' && functionLike(name) === undefined)) return null;
  const meant = functionLike(name);
  return meant === undefined
    ? problem(`${name} is not a function. Quote a text with brackets.`, JSON.stringify(written))
    : problem(`A function is written ${meant}(…).`, meant + written.slice(name.length + spaces.length));
};

const functionLike = (name: string): FunctionName | undefined => {
  const lower = name.toLowerCase();
  return FUNCTIONS.find((known) => known === lower) ?? FUNCTIONS.find((known) => areWithin(1, lower, known));
};

const negatedMeant = (key: string | null, written: string): string | undefined => {
  if (written === '*') return '!';
  if (written === '!' || /^null$/i.test(written)) return '*';
  const range = rangeIn(written);
  if (range !== null && range[0] === range[1]) return `!=${range[0]}`;
  const span = spanIn(written);
  if (span !== null) return outsideSpan(key, span);
  const { operator, rest } = operatorOf(written) ?? {};
  const opposite = { '<': '>=', '<=': '>', '>': '<=', '>=': '<', '': '!=', '!=': '' }[operator ?? ' '];
  if (opposite !== undefined) return opposite + (rest ?? '');
  if (written.startsWith('any(')) return `none${written.slice(3)}`;
  return written.startsWith('none(') ? `any${written.slice(4)}` : undefined;
};

/** What is other than a suggestion, which may have several alternatives. */
const negatedList = (meant: string): string | undefined => {
  const pieces = splitValue(meant);
  if (pieces.length === 1) return negatedMeant(null, meant) ?? `!=${meant}`;
  return pieces.some((piece) => operatorOf(piece) !== null || rangeIn(piece) !== null) ? undefined : `!=${meant}`;
};

const otherThan = (key: string | null, written: string): ElementAlternative | Problem => {
  if (written === '') return problem('Nothing follows !=.');
  const isOther = written === '*' || written === '!' || rangeIn(written) !== null || operatorOf(written) !== null;
  const operand = isOther ? null : operandOf(written);
  if (operand !== null && !isProblem(operand)) return { is: 'other', than: [operand] };
  const meant = negatedMeant(key, written) ?? (operand?.meant === undefined ? undefined : negatedList(operand.meant));
  return problem(`A number or a text follows !=, not ${shownText(written)}.`, meant);
};

const ordered = (key: string | null, order: Order, written: string): ElementAlternative | Problem => {
  if (written.startsWith('"')) {
    const text = quotedText(written);
    if (typeof text === 'string') return { is: 'text-order', order, to: text };
    // An order has one text, so a list of them has no meaning.
    const isOne = text.meant !== undefined && unquoted(text.meant) !== null;
    return problem(text.message, isOne ? order + text.meant : undefined);
  }
  const to = writtenNumber(written);
  return to === null ? orderProblem(key, order, written) : { is: 'number-order', order, to };
};

const rangeIn = (written: string): readonly [string, string] | null => {
  const [from = '', to = '', more] = written.split('..');
  return more === undefined && writtenNumber(from) !== null && writtenNumber(to) !== null ? [from, to] : null;
};

/** One alternative that looks at one element. */
const readElement = (key: string | null, written: string): ElementAlternative | Problem => {
  if (written === '') return problem('An alternative is empty.');
  if (written === '*') return { is: 'present' };
  const found = operatorOf(written);
  if (found !== null) return readOperator(key, written, found);
  const range = rangeIn(written);
  if (range !== null) return rangeOf(range);
  const to = operandOf(written);
  return isProblem(to) ? to : { is: 'equal', to };
};

const readOperator = (
  key: string | null,
  written: string,
  { operator, isExact, rest }: NonNullable<ReturnType<typeof operatorOf>>,
): ElementAlternative | Problem => {
  if (isExact) return operator === '!=' ? otherThan(key, rest) : ordered(key, operator as Order, rest);
  if (operator !== undefined) return misspelt(key, operator, rest, written);
  return written.startsWith('!=')
    ? otherThan(key, written.slice(2).trim())
    : problem(`${shownText(written)} begins with no operator. Quote a text like this.`);
};

/** An operator in another spelling. Its operand may have to be corrected too. */
const misspelt = (key: string | null, operator: string, rest: string, written: string): Problem => {
  const read = readElement(key, operator + rest);
  const meant = isProblem(read) ? read.meant : operator + rest;
  return problem(`${shownText(written)} begins with no operator. They are <, <=, >, >= and !=.`, meant);
};

const rangeOf = ([from, to]: readonly [string, string]): ElementAlternative | Problem => {
  const [least, greatest] = [writtenNumber(from), writtenNumber(to)];
  if (least === null || greatest === null) return problem('A range has two numbers.');
  return compareQuantities(least, greatest) > 0
    ? spanProblem({ from, to, areTimes: false })
    : { is: 'range', from: least, to: greatest };
};

/** The elements among alternatives, or the first problem, with the whole list as it was probably meant. */
const readAll = <Read extends object>(
  pieces: readonly string[],
  read: (piece: string) => Read | Problem,
): readonly Read[] | Problem => {
  const all = pieces.map(read);
  const first = all.find(isProblem);
  if (first === undefined) return all as readonly Read[];
  const written = pieces.filter((piece) => piece !== '');
  const corrected = written.map((piece) => {
    const one = all[pieces.indexOf(piece)] ?? first;
    return isProblem(one) ? one.meant : piece;
  });
  const isWhole = written.length > 0 && corrected.every((piece) => piece !== undefined);
  return problem(first.message, isWhole ? corrected.join('|') : undefined);
};

const isEqual = (one: Alternative): one is Extract<Alternative, { is: 'equal' }> => one.is === 'equal';
const isOther = (one: Alternative): one is Extract<Alternative, { is: 'other' }> => one.is === 'other';

/** `!=a|b` is one alternative: neither. What would hold for nearly everything is a problem. */
const joinOthers = <One extends Alternative>(
  all: readonly One[],
  pieces: readonly string[],
): readonly (One | ElementAlternative)[] | Problem => {
  const first = all.findIndex(isOther);
  if (first === -1) return all;
  const written = pieces.filter((_, at) => isOther(all[at] as One) || (at > first && isEqual(all[at] as One)));
  const meant = [
    ...pieces.filter((_, at) => all[at]?.is === 'absent'),
    `!=${written.map((piece) => piece.replace(/^!=\s*/, '')).join('|')}`,
  ].join('|');
  if (all.filter(isOther).length > 1)
    return problem('Every value is other than one of several. Write !=a|b for neither a nor b.', meant);
  if (all.slice(0, first).some(isEqual))
    return problem('A text before != has no effect: it is other than what follows.', meant);
  if (!all.every((one) => isEqual(one) || isOther(one) || one.is === 'absent'))
    return problem('Only texts, numbers and ! are combined with !=. Make other alternatives a rule of their own.');
  const than = all.flatMap((one) => (isOther(one) ? one.than : isEqual(one) ? [one.to] : []));
  return [...all.filter(({ is }) => is === 'absent'), { is: 'other', than }];
};

const readElements = (pieces: readonly string[]): readonly ElementAlternative[] | Problem => {
  const all = readAll(pieces, (piece) => {
    if (piece === '!') return problem('! cannot stand in brackets, where every element is there.');
    if (CALL.test(piece)) return problem('Brackets cannot stand in brackets. Quote a text with brackets.');
    return readElement(null, piece);
  });
  return isProblem(all) ? all : joinOthers(all, pieces);
};

const EMPTY_CALLS = { any: '*', none: '!', all: '*' } as const;
/** A count is compared with a whole number of at most this many digits. */
const COUNT = /^(<=|>=|!=|=|<|>)\s*(0|[1-9]\d{0,8})$/;

const readCall = (name: FunctionName, written: string): Alternative | Problem => {
  const open = name.length;
  const end = endOfBrackets(written, open);
  if (end === written.length) return problem('The closing bracket is missing.', `${written})`);
  const inside = written.slice(open + 1, end).trim();
  const behind = written.slice(end + 1).trim();
  const pieces = inside === '' && name === 'count' ? ['*'] : splitValue(inside);
  if (inside === '' && name !== 'count') return problem('The brackets are empty.', EMPTY_CALLS[name]);
  const of = readElements(pieces);
  // Brackets in the text have ended those of the function.
  if (behind.startsWith(')') && name !== 'count' && !CALL.test(inside)) {
    const text = written.slice(open + 1, -1).trim();
    const isOne = written.endsWith(')') && !/["|]/.test(text);
    return problem('Quote a text with brackets.', isOne ? `${name}(${JSON.stringify(text)})` : undefined);
  }
  if (isProblem(of)) return problem(of.message, of.meant && `${name}(${of.meant})${behind && ` ${behind}`}`);
  if (name !== 'count') {
    return behind === '' ? { is: name, of } : problem(`Nothing may follow ${name}(…).`, `${name}(${inside})`);
  }
  const [, comparison, to] = COUNT.exec(behind) ?? [];
  return comparison === undefined
    ? countProblem(`count(${inside})`, behind)
    : { is: 'count', of, comparison: comparison as CountComparison, to: Number(to) };
};

const countProblem = (call: string, behind: string): Problem => {
  if (behind === '') return problem('count(…) is compared with a whole number.', `${call} >= 1`);
  const { operator, rest } = operatorOf(behind) ?? {};
  const isWhole = rest !== undefined && /^\d{1,9}$/.test(rest);
  const meant = operator !== undefined && isWhole ? `${call} ${operator || '='} ${Number(rest)}` : undefined;
  return problem(`${shownText(behind)} does not compare a count with a whole number.`, meant);
};

const readAlternative = (key: string | null, written: string): Alternative | Problem => {
  if (written === '!') return { is: 'absent' };
  const name = FUNCTIONS.find((known) => written.startsWith(`${known}(`));
  return name === undefined ? readElement(key, written) : readCall(name, written);
};

/** How many problems one after the other a suggestion corrects. */
const CORRECTIONS = 4;

/** Whether a suggestion is several conditions instead of one value: `["k",">=8"], ["k","<18"]`. */
const areConditions = (suggestion: string): boolean => {
  const pairs = listed(suggestion) ?? [];
  return pairs.length > 1 && pairs.every((pair) => Array.isArray(pair) && !isProblem(readOnce(null, String(pair[1]))));
};

/** What was meant, if it can be read itself; otherwise what is meant by that. */
const readable = (key: string, { meant }: Problem): string | undefined => {
  let suggestion = meant;
  for (let left = CORRECTIONS; left > 0 && suggestion !== undefined; left -= 1) {
    const read = readOnce(key, suggestion);
    if (!isProblem(read) || areConditions(suggestion)) return suggestion;
    suggestion = read.meant;
  }
  return undefined;
};

const readOnce = (key: string | null, value: string): readonly Alternative[] | Problem => {
  const pieces = splitValue(value);
  const all = readAll(pieces, (piece) => readAlternative(pieces.length === 1 ? key : null, piece));
  return isProblem(all) ? all : joinOthers(all, pieces);
};

/**
 * Reads the value of a condition. The caller bounds its length (RULESET_BOUNDS.valueBytes).
 * @param key the key of the condition, which a suggestion may repeat
 */
export const readValue = (key: string, value: string): readonly Alternative[] | Problem => {
  const read = readOnce(key, value);
  return isProblem(read) ? problem(read.message, readable(key, read)) : read;
};
