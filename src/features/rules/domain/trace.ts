import type { ConditionTrace, RulesTrace, RuleTrace, SeenValue } from './rules-trace.js';
import { isObject, type Json, jsonBytes } from '../../../kernel/base/json.js';
import { cutText } from '../../../kernel/base/text.js';
import type { Seen } from './key-tree.js';

/** How much of its rules and bridge checks a decision records, in bytes of JSON. This limit guarantees that its event can be written. */
export const TRACE_BYTES = 131_072;
/** The share of the checks, which truncate their lists (src/features/rules/domain/bridge/core-rules.ts). */
export const CHECKS_BYTES = 16_384;

/** How much of one seen value is shown: UTF-16 units of each string, of all of its strings together, elements or members, and levels. */
const TEXT_CHARS = 200;
const VALUE_CHARS = 600;
const MEMBERS = 16;
const DEPTH = 3;
/** The cost of a number or a bracket within VALUE_CHARS. */
const MARK_CHARS = 8;

/** The rest of VALUE_CHARS, and whether anything was truncated. */
type Room = { left: number; shortened: boolean };

const briefText = (text: string, room: Room): string => {
  const shown = cutText(text, Math.min(TEXT_CHARS, Math.max(1, room.left)));
  if (shown.length < text.length) room.shortened = true;
  room.left -= shown.length;
  return shown;
};

const some = <Item, Shown>(items: readonly Item[], room: Room, show: (item: Item) => Shown): readonly Shown[] => {
  const shown: Shown[] = [];
  for (const item of items) {
    if (shown.length === MEMBERS || room.left <= 0) {
      room.shortened = true;
      break;
    }
    shown.push(show(item));
  }
  return shown;
};

const brief = (value: Json, room: Room, depth = DEPTH): Json => {
  room.left -= MARK_CHARS;
  if (typeof value === 'string') return briefText(value, room);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) {
    room.shortened = true;
    return '…';
  }
  if (!isObject(value)) return some(value, room, (element) => brief(element, room, depth - 1));
  const show = ([name, member]: [string, Json]): [string, Json] => [
    briefText(name, room),
    brief(member, room, depth - 1),
  ];
  return Object.fromEntries(some(Object.entries(value), room, show));
};

const show = (key: string, { values, listed }: Seen): SeenValue => {
  const room: Room = { left: VALUE_CHARS, shortened: false };
  const value = values[0] === undefined ? null : brief(listed ? values : values[0], room);
  return { key, value, ...(room.shortened ? { shortened: true } : {}) };
};

/** How many errors of conditions a decision records: with all other members of its rules, this many have room. */
const ERRORS = 64;

/** The rules with their first errors. */
const withFewErrors = (rules: readonly RuleTrace[]): readonly RuleTrace[] => {
  let left = ERRORS;
  const few = ({ error, ...condition }: ConditionTrace): ConditionTrace => {
    if (error === undefined) return condition;
    left -= 1;
    return left < 0 ? condition : { ...condition, error };
  };
  const isWithout = rules.every(({ conditions = [] }) => conditions.every(({ error }) => error === undefined));
  return isWithout
    ? rules
    : rules.map((rule) => (rule.conditions === undefined ? rule : { ...rule, conditions: rule.conditions.map(few) }));
};

/**
 * What a decision records of its rules: every rule with its conditions, and what each key saw, once. All rules are recorded completely, because a
 * ruleset is small enough (RULESET_BOUNDS). The keys of rules that matched come first. Shortened values are marked, and values that do not fit within
 * TRACE_BYTES are left out and counted. The same input makes the same trace.
 * @param keysOf the keys whose values a condition looked at
 */
export const traceOf = (
  all: readonly RuleTrace[],
  seen: ReadonlyMap<string, Seen>,
  keysOf = (condition: ConditionTrace): readonly string[] => [condition.key],
): RulesTrace => {
  const rules = withFewErrors(all);
  const matched = rules.filter((rule) => rule.matched);
  const keys = new Set([...matched, ...rules].flatMap(({ conditions = [] }) => conditions.flatMap(keysOf)));
  let left = TRACE_BYTES - CHECKS_BYTES - jsonBytes({ rules, seen: [], seenLeftOut: keys.size });
  const shown: SeenValue[] = [];
  let leftOut = 0;
  for (const key of keys) {
    const value = show(key, seen.get(key) ?? { values: [], listed: false });
    const bytes = jsonBytes(value) + 1;
    if (bytes > left) leftOut += 1;
    else {
      shown.push(value);
      left -= bytes;
    }
  }
  return { rules, seen: shown, ...(leftOut === 0 ? {} : { seenLeftOut: leftOut }) };
};
