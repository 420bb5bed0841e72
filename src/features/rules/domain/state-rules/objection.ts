import { isObject, type Json } from '../../../../kernel/base/json.js';
import { isSameJson } from '../../../../kernel/base/same-json.js';
import type { StateRule, StateType } from './state-rule.js';

const isOfType = (value: Json, type: StateType): boolean => {
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
};

/** The nearest number to `wanted` that a rule allows after `before`; null if there is none. */
export const nearest = (
  { min, max, step, type, values }: StateRule,
  before: Json | undefined,
  wanted: Json,
): number | null => {
  if (typeof wanted !== 'number' || values !== undefined) return null;
  const from = typeof before === 'number' ? before : 0;
  const low = Math.max(min ?? -Infinity, step === undefined ? -Infinity : from - step);
  const high = Math.min(max ?? Infinity, step === undefined ? Infinity : from + step);
  const clamped = Math.min(Math.max(wanted, low), high);
  const whole = type === 'integer' ? Math.trunc(clamped) : clamped;
  return Number.isFinite(whole) && whole >= low && whole <= high ? whole : null;
};

/** Why a rule does not allow a member to become `after`; null if it does. */
export const objection = (rule: StateRule, before: Json | undefined, after: Json | undefined): string | null => {
  if (rule.writer === 'game') return 'Only the game changes it.';
  if (after === undefined) return rule.optional === true ? null : 'It may not be removed.';
  const { type, min, max, step, values } = rule;
  if (type !== undefined && !isOfType(after, type)) return `It must be of the type ${type}.`;
  if (values !== undefined && !values.some((value) => isSameJson(value, after)))
    return 'It is not one of the allowed values.';
  if (min === undefined && max === undefined && step === undefined) return null;
  if (typeof after !== 'number') return 'It must be a number.';
  if (min !== undefined && after < min) return `It must be at least ${min}.`;
  if (max !== undefined && after > max) return `It must be at most ${max}.`;
  const from = typeof before === 'number' ? before : 0;
  return step !== undefined && Math.abs(after - from) > step ? `It may change by at most ${step} at once.` : null;
};
