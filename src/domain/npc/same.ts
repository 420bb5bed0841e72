import { isObject, jcs, type Json } from '../shared/json.js';

/**
 * The form in which what a client sends is compared with what was recorded (contract 2.6): numbers at single precision, because deployed
 * clients hold them so, key order away, and absent = null = empty for members of objects.
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
  const form = comparable(value ?? null);
  return isEmpty(form) ? '' : jcs(form);
};

/** Values with the same text are the same, which is the usual case and found without looking deeper. */
export const same = (left: Json | undefined, right: Json | undefined): boolean =>
  left === right || JSON.stringify(left) === JSON.stringify(right) || comparisonText(left) === comparisonText(right);
