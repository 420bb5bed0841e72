import { isObject, type Json } from '../../../kernel/base/json.js';
import { drained, type Sliced } from '../../../kernel/base/sliced.js';
import { sortedNames } from '../../../kernel/base/sorted-names.js';

/** Numbers at single precision, because deployed clients store them that way. */
const singlePrecision = (value: number): number | string => {
  const rounded = Math.fround(value);
  return Number.isFinite(rounded) ? rounded : String(value);
};

export const isEmpty = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/** The comparison texts of values that count as absent as a member of an object. */
const EMPTY_TEXTS: ReadonlySet<string> = new Set(['null', '""', '[]', '{}']);
/** How many values and characters are written between two pauses, a value counting as VALUE_WORK: one or two milliseconds of work. */
const SLICE = 65_536;
const VALUE_WORK = 32;

/** The text of a value. @param pace the work done since the last pause, over all values */
function* formOf(value: Json, pace: { work: number }): Sliced<string> {
  pace.work += VALUE_WORK;
  if (pace.work >= SLICE) {
    yield pace.work;
    pace.work = 0;
  }
  if (typeof value === 'string') {
    pace.work += value.length;
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    const items: string[] = [];
    for (const item of value as readonly Json[]) items.push(yield* formOf(item, pace));
    return `[${items.join(',')}]`;
  }
  if (!isObject(value)) return JSON.stringify(typeof value === 'number' ? singlePrecision(value) : value);
  const members: string[] = [];
  for (const name of yield* sortedNames(Object.keys(value))) {
    const text = yield* formOf(value[name] as Json, pace);
    if (!EMPTY_TEXTS.has(text)) members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

/**
 * The form in which a client's values are compared with the record, as JCS (RFC 8785): numbers at single precision, and absent = null = empty for
 * members of objects. Equal values have equal texts. It yields whenever the driver may pause.
 */
export function* comparisonSlices(value: Json | undefined): Sliced<string> {
  const text = yield* formOf(value ?? null, { work: 0 });
  return EMPTY_TEXTS.has(text) ? '' : text;
}

/** The same without yielding: for strings and ids, and where nothing may run in between. */
export const comparisonText = (value: Json | undefined): string => drained(comparisonSlices(value));

/** Whether a value is empty in its comparison form. */
const hollow = (value: Json | undefined): boolean =>
  isObject(value) ? Object.keys(value).every((name) => hollow(value[name])) : isEmpty(value);

const single = (value: Json | undefined): Json | undefined =>
  typeof value === 'number' ? singlePrecision(value) : value;

/** Elements of lists are compared even if they are empty: `[null]`, `[[]]` and `[{}]` are different. */
const alike = (given: Json | undefined, other: Json | undefined, inList: boolean): boolean => {
  const [left, right] = [single(given), single(other)];
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    const others = right as readonly Json[];
    return left.length === others.length && left.every((one: Json, index) => alike(one, others[index], true));
  }
  if (isObject(left) && isObject(right)) {
    return (
      Object.keys(left).every((name) => alike(left[name], Object.hasOwn(right, name) ? right[name] : null, false)) &&
      Object.keys(right).every((name) => Object.hasOwn(left, name) || hollow(right[name]))
    );
  }
  return !inList && hollow(left) && hollow(right);
};

/** Whether two values have the same comparison text, without building it: the first difference ends the comparison. */
export const same = (left: Json | undefined, right: Json | undefined): boolean => alike(left, right, false);
