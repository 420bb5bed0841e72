import { isObject, jcs, type Json } from '../shared/json.js';

/**
 * The form in which what a client sends is compared with the record (contract 2.6): numbers at single precision, because deployed clients hold them
 * so, without key order, and absent = null = empty for members of objects.
 */
const comparable = (value: Json): Json => {
  if (typeof value === 'number') {
    const rounded = Math.fround(value);
    return Number.isFinite(rounded) ? rounded : String(value);
  }
  if (Array.isArray(value)) return (value as readonly Json[]).map(comparable);
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, member]): [string, Json] => [name, comparable(member)])
        .filter(([, member]) => !isEmpty(member)),
    );
  }
  return value;
};

export const isEmpty = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/** Equal values have equal texts. */
export const comparisonText = (value: Json | undefined): string => {
  if (typeof value === 'string') return value === '' ? '' : JSON.stringify(value);
  const form = comparable(value ?? null);
  return isEmpty(form) ? '' : jcs(form);
};

/** Whether nothing is left of a value in the form in which it is compared. */
const hollow = (value: Json | undefined): boolean =>
  isObject(value) ? Object.keys(value).every((name) => hollow(value[name])) : isEmpty(value);

const single = (value: Json | undefined): Json | undefined => (typeof value === 'number' ? comparable(value) : value);

/** Elements of lists are compared even if they are empty: `[null]`, `[[]]` and `[{}]` are three things. */
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

/** Whether two values have the same comparison text, found without making it: the first difference ends the comparison. */
export const same = (left: Json | undefined, right: Json | undefined): boolean => alike(left, right, false);
