import { isActionType } from '../action-type.js';
import {
  type Alternative,
  countElementTests,
  type ElementAlternative,
  type Operand,
} from '../conditions/alternatives.js';
import { compareQuantities, decidingDouble, isWhole, type Quantity, writtenNumber } from '../conditions/numbers.js';
import { compareTexts } from '../conditions/text-order.js';

/** A set of kinds of values: one bit for each kind. */
export type Kinds = bigint;

/** Which values a path can lead to. A list counts as its elements. */
export type PathValues = {
  readonly are: 'anything' | 'action types' | 'names' | 'texts' | 'numbers';
  /** Whether there is at most one. */
  readonly isSingle: boolean;
  /** Whether there is at least one. */
  readonly isRequired: boolean;
};

/**
 * The values that a path can lead to, divided into kinds: no condition on the path tells two values of one kind apart. Numbers are the listed ones and
 * the intervals between them, texts the listed ones and all others.
 */
export type Division = PathValues & {
  /** Every kind of value that is possible. */
  readonly all: Kinds;
  /** How many kinds there are, possible or not. */
  readonly size: number;
  /** The kinds that satisfy one of some alternatives, and the others for which that cannot be decided. */
  readonly satisfying: (alternatives: readonly ElementAlternative[]) => { readonly yes: Kinds; readonly error: Kinds };
};

/** More kinds are not told apart. */
const MOST_KINDS = 8_192;
/** With more tests on one path, its values are not told apart. */
const MOST_TESTS = 16_384;
/** JSON numbers that stand for several whole numbers, below and above all others; true, false and objects. */
const OTHER_KINDS = 5;

const bits = (from: number, to: number): Kinds => (to <= from ? 0n : ((1n << BigInt(to - from)) - 1n) << BigInt(from));

const elementsIn = (alternatives: readonly Alternative[]): readonly ElementAlternative[] =>
  alternatives.flatMap((one) => ('of' in one ? one.of : one.is === 'absent' ? [] : [one]));

const operandsIn = (one: ElementAlternative): readonly Operand[] =>
  one.is === 'equal' ? [one.to] : one.is === 'other' ? one.than : [];

const numbersIn = (one: ElementAlternative): readonly Quantity[] => {
  if (one.is === 'number-order') return [one.to];
  if (one.is === 'range') return [one.from, one.to];
  return operandsIn(one).flatMap(({ quantity }) => quantity ?? []);
};

/** Sorted, without equal ones; null if there are too many to sort. */
const different = <One>(all: readonly One[], compare: (one: One, other: One) => number): readonly One[] | null => {
  const some = [...new Set(all)];
  if (some.length > MOST_KINDS / 2) return null;
  return some.toSorted(compare).filter((one, at, sorted) => at === 0 || compare(sorted[at - 1] as One, one) !== 0);
};

/** Where a thing is among sorted ones that have it. */
const placeIn = <One>(sorted: readonly One[], thing: One, compare: (one: One, other: One) => number): number => {
  let [from, to] = [0, sorted.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compare(sorted[middle] as One, thing) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
};

const byCodePoint = (one: string, other: string): number => compareTexts(one, other).compared;

/** Whether doubles tell how a number compares with every JSON number that stands for several whole numbers. */
const isPlain = (quantity: Quantity): boolean =>
  isWhole(quantity) || Math.abs(decidingDouble(quantity)) < Number.MAX_SAFE_INTEGER;

/** Places on a line with listed points: even ones between the points, odd ones at them. `[from, to)`. */
type Places = readonly [from: number, to: number];

const placesOf = (order: '<' | '<=' | '>' | '>=', point: number, places: number): Places => {
  const at = 2 * point + 1;
  switch (order) {
    case '<':
      return [0, at];
    case '<=':
      return [0, at + 1];
    case '>':
      return [at + 1, places];
    case '>=':
      return [at, places];
  }
};

/** Divides the values of a path by all conditions on it; null if there are too many kinds, or numbers that compare in unusual ways. */
export const divide = (conditions: readonly Alternative[], values: PathValues): Division | null => {
  if (countElementTests(conditions) > MOST_TESTS) return null;
  const elements = elementsIn(conditions);
  const orders = elements.flatMap((one) => (one.is === 'text-order' ? [one.to] : []));
  const texts = different([...elements.flatMap(operandsIn).map(({ text }) => text), ...orders], byCodePoint);
  if (texts === null) return null;
  const ofTexts = texts.map(writtenNumber);
  const points = different(
    [...elements.flatMap(numbersIn), ...ofTexts.filter((quantity) => quantity !== null)],
    compareQuantities,
  );
  if (points === null) return null;
  const places = 2 * points.length + 1;
  // Without an order of texts, the texts between the listed ones are all alike.
  const gaps = orders.length === 0 ? 1 : texts.length + 1;
  const [low, high, yes, no] = [places, places + 1, places + 2, places + 3];
  const listed = places + OTHER_KINDS;
  const others = listed + texts.length;
  const numeric = others + gaps;
  const end = numeric + places * gaps;
  if (end > MOST_KINDS || !points.every(isPlain)) return null;

  const placeOf = (quantity: Quantity): number => placeIn(points, quantity, compareQuantities);
  const textPlace = (text: string): number => placeIn(texts, text, byCodePoint);
  const bit = (at: number): Kinds => 1n << BigInt(at);
  const jsonNumbers = bits(0, places) | bit(low) | bit(high);
  const allTexts = bits(listed, end);
  const textsAtPoint = points.map(() => 0n);
  for (const [at, quantity] of ofTexts.entries()) {
    if (quantity === null) continue;
    const point = placeOf(quantity);
    textsAtPoint[point] = (textsAtPoint[point] ?? 0n) | bit(listed + at);
  }
  /** By point: the listed texts that are lower numbers. */
  const textsBelow = [0n];
  for (const kinds of textsAtPoint) textsBelow.push((textsBelow.at(-1) ?? 0n) | kinds);

  /** JSON numbers and numbers in texts. */
  const numbersAt = ([from, to]: Places): Kinds =>
    bits(from, to) |
    bits(numeric + from * gaps, numeric + to * gaps) |
    ((textsBelow[to >> 1] ?? 0n) & ~(textsBelow[from >> 1] ?? 0n));
  const vague = bit(low) | bit(high);
  const everyNumber = numbersAt([0, places]) | vague;
  const notNumbers = bits(0, end) & ~everyNumber;

  const equalTo = ({ text, isQuoted, quantity }: Operand): { readonly yes: Kinds; readonly error: Kinds } => {
    const exactly = bit(listed + textPlace(text));
    if (isQuoted) return { yes: exactly, error: 0n };
    const boolean = text === 'true' ? bit(yes) : text === 'false' ? bit(no) : 0n;
    if (quantity === null) return { yes: exactly | boolean, error: 0n };
    const at = 2 * placeOf(quantity) + 1;
    return { yes: exactly | numbersAt([at, at + 1]), error: isWhole(quantity) ? vague : 0n };
  };
  /** The first gap between texts, at every place of a number. */
  const firstGap = Array.from({ length: places }).reduce<Kinds>((kinds, _, at) => kinds | bit(at * gaps), 0n);
  const textsAt = ([from, to]: Places): Kinds => {
    const between: Places = [(from + 1) >> 1, (to + 1) >> 1];
    return (
      bits(listed + (from >> 1), listed + (to >> 1)) |
      (bits(...between) << BigInt(others)) |
      // Each place of a number has the same gaps, so this repeats them.
      ((bits(...between) * firstGap) << BigInt(numeric))
    );
  };
  const notTexts = bits(0, end) & ~allTexts;
  const one = (alternative: ElementAlternative): { readonly yes: Kinds; readonly error: Kinds } => {
    switch (alternative.is) {
      case 'present':
        return { yes: bits(0, end), error: 0n };
      case 'equal':
        return equalTo(alternative.to);
      case 'other': {
        const equal = alternative.than.map(equalTo);
        const same = equal.reduce((kinds, found) => kinds | found.yes, 0n);
        const error = equal.reduce((kinds, found) => kinds | found.error, 0n) & ~same;
        return { yes: bits(0, end) & ~same & ~error, error };
      }
      case 'number-order': {
        const { order, to } = alternative;
        const side = order.startsWith('<') ? bit(low) : bit(high);
        const found = numbersAt(placesOf(order, placeOf(to), places));
        return isWhole(to) ? { yes: found, error: notNumbers | vague } : { yes: found | side, error: notNumbers };
      }
      case 'range': {
        const { from, to } = alternative;
        const found = numbersAt([2 * placeOf(from) + 1, 2 * placeOf(to) + 2]);
        return { yes: found, error: isWhole(from) || isWhole(to) ? notNumbers | vague : notNumbers };
      }
      case 'text-order': {
        const found = placesOf(alternative.order, textPlace(alternative.to), 2 * texts.length + 1);
        return { yes: textsAt(found), error: notTexts };
      }
    }
  };

  const listedWhere = (holds: (text: string) => boolean): Kinds =>
    texts.reduce((kinds, text, at) => (holds(text) ? kinds | bit(listed + at) : kinds), bits(others, end));
  const possible = {
    anything: bits(0, end),
    'action types': listedWhere(isActionType),
    names: listedWhere((text) => text !== ''),
    texts: allTexts,
    numbers: jsonNumbers,
  }[values.are];
  return {
    ...values,
    all: possible,
    size: end,
    satisfying: (alternatives) => {
      const found = alternatives.map(one);
      const satisfied = found.reduce((kinds, { yes: some }) => kinds | some, 0n) & possible;
      return { yes: satisfied, error: found.reduce((kinds, { error }) => kinds | error, 0n) & possible & ~satisfied };
    },
  };
};
