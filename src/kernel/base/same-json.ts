import { isObject, type Json } from './json.js';

/** Whether two values are the same JSON, whatever the order of members. Undefined is no value, and the same only as itself. */
export const isSameJson = (left: Json | undefined, right: Json | undefined): boolean => {
  if (left === right) return true;
  if (Array.isArray(left)) {
    const others = right as readonly Json[];
    return (
      Array.isArray(right) &&
      left.length === others.length &&
      (left as readonly Json[]).every((one, index) => isSameJson(one, others[index]))
    );
  }
  if (!isObject(left) || !isObject(right)) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSameJson(left[name], right[name]))
  );
};
