import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import { isSameJson } from '../../../../kernel/base/same-json.js';
import { GAME_MEMBERS, namesOf, type OnBreak, type StateRule, type StateType } from './state-rule.js';

/** A change that a state rule does not allow. `instead`: the value that a clamped change gets. */
export type ChangeBreak = {
  readonly path: string;
  readonly onBreak: OnBreak;
  readonly reason: string;
  readonly instead?: number;
};

/** The part of a change that the rules allow, and what they do not allow. */
export type JudgedChange = { readonly patch: JsonObject; readonly breaks: readonly ChangeBreak[] };

/** How many members of values that a change replaces are looked at; a change that replaces more is not allowed. Some 20 ms at worst. */
const LOOKED_AT = 20_000;

type Ready = { readonly rule: StateRule; readonly names: readonly string[]; readonly wildcards: number };

/** Rules are immutable, so their prepared form stays valid for their lifetime. */
const ready = new WeakMap<readonly StateRule[], readonly Ready[]>();
const undeclared: readonly Ready[] = GAME_MEMBERS.map((path) => ({
  rule: { path, writer: 'game' },
  names: [path],
  wildcards: 0,
}));

const prepare = (rules: readonly StateRule[]): readonly Ready[] => {
  const known = ready.get(rules);
  if (known !== undefined) return known;
  const declared = rules.map((rule) => {
    const names = namesOf(rule);
    return { rule, names, wildcards: names.filter((name) => name === '*').length };
  });
  // The most specific rule decides: the longest path, then the one with the fewest wildcards, then the first.
  const inForce = [...declared, ...undeclared].sort(
    (left, right) => right.names.length - left.names.length || left.wildcards - right.wildcards,
  );
  ready.set(rules, inForce);
  return inForce;
};

const matches = (pattern: string, name: string | undefined): boolean =>
  name !== undefined && (pattern === '*' || pattern === name);

/** The rule that decides about a member: the most specific one whose path leads to it or to something around it. */
const ruleFor = (rules: readonly Ready[], at: readonly string[]): Ready | undefined =>
  rules.find(({ names }) => names.length <= at.length && names.every((name, index) => matches(name, at[index])));

/** The rules about something inside of a member. */
const rulesWithin = (rules: readonly Ready[], at: readonly string[]): readonly Ready[] =>
  rules.filter(({ names }) => names.length > at.length && at.every((name, index) => matches(names[index] ?? '', name)));

const own = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;

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
const nearest = (
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
const objection = (rule: StateRule, before: Json | undefined, after: Json | undefined): string | null => {
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

const elementsOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];

type Judging = { readonly rules: readonly Ready[]; readonly breaks: ChangeBreak[]; left: number };

/**
 * Every member that a path leads to in one of two values, as pairs of its value in each. Like a condition, a path goes through the elements of a list;
 * otherwise a list around a member would hide it from its rule, but not from the conditions that read it.
 */
function* pairsAt(
  judging: Judging,
  names: readonly string[],
  before: Json | undefined,
  after: Json | undefined,
): Generator<readonly [Json | undefined, Json | undefined]> {
  judging.left -= 1;
  const [name, ...rest] = names;
  if (judging.left < 0 || before === after) return;
  if (name === undefined) {
    yield [before, after];
    return;
  }
  const keysOf = (value: Json | undefined): readonly string[] =>
    typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const found = name === '*' ? new Set([...keysOf(before), ...keysOf(after)]) : [name];
  for (const key of found) yield* pairsAt(judging, rest, own(before, key), own(after, key));
  const [was, becomes] = [elementsOf(before), elementsOf(after)];
  for (let index = 0; index < Math.max(was.length, becomes.length); index += 1)
    yield* pairsAt(judging, names, was[index], becomes[index]);
}

/** The first rule about something inside of a replaced value that does not allow what becomes of it. */
const brokenWithin = (
  judging: Judging,
  at: readonly string[],
  before: Json | undefined,
  after: Json | undefined,
): { readonly rule: StateRule; readonly reason: string } | null => {
  for (const { rule, names } of rulesWithin(judging.rules, at)) {
    for (const [was, becomes] of pairsAt(judging, names.slice(at.length), before, after)) {
      const reason = isSameJson(was, becomes) ? null : objection(rule, was, becomes);
      if (reason !== null) return { rule, reason: `It holds ${rule.path}: ${reason}` };
    }
    if (judging.left < 0) return { rule, reason: 'It replaces too many members to check.' };
  }
  return null;
};

/** What of one member's change is allowed, as a member of the patch; undefined if nothing is. */
const judgeMember = (
  judging: Judging,
  at: readonly string[],
  before: Json | undefined,
  wanted: Json,
): Json | undefined => {
  const isMerged = isObject(wanted);
  if (isMerged && isObject(before)) {
    const patch = judgeMembers(judging, at, before, wanted);
    return Object.keys(patch).length === 0 ? undefined : patch;
  }
  const after = wanted === null ? undefined : wanted;
  if (isSameJson(before, after)) return undefined;
  const refuse = ({ onBreak = 'leave_out' }: StateRule, reason: string): undefined => {
    judging.breaks.push({ path: at.join('.'), onBreak, reason });
  };
  const decides = ruleFor(judging.rules, at);
  if (decides !== undefined) {
    const { rule, names } = decides;
    // A rule about something around the member only says who writes it.
    const isOwn = names.length === at.length;
    const reason = isOwn || rule.writer === 'game' ? objection(rule, before, after) : null;
    if (reason !== null) {
      const instead =
        rule.onBreak === 'clamp' && rule.writer === 'model' && after !== undefined
          ? nearest(rule, before, after)
          : null;
      if (instead === null) {
        refuse(rule.onBreak === 'clamp' ? { ...rule, onBreak: 'leave_out' } : rule, reason);
        return;
      }
      judging.breaks.push({ path: at.join('.'), onBreak: 'clamp', reason, instead });
      return instead === before ? undefined : instead;
    }
  }
  // A new object is judged member by member; what it replaces, and what an array holds, as a whole.
  const within = brokenWithin(judging, at, before, isMerged ? undefined : after);
  if (within !== null && !(isMerged && before === undefined)) {
    refuse(within.rule, within.reason);
    return;
  }
  if (!isMerged) return wanted;
  const breaks = judging.breaks.length;
  const members = judgeMembers(judging, at, {}, wanted);
  return Object.keys(members).length === 0 && judging.breaks.length > breaks ? undefined : members;
};

const judgeMembers = (judging: Judging, at: readonly string[], before: JsonObject, patch: JsonObject): JsonObject => {
  const allowed = Object.entries(patch).flatMap(([name, wanted]): readonly (readonly [string, Json])[] => {
    const member = judgeMember(judging, [...at, name], Object.hasOwn(before, name) ? before[name] : undefined, wanted);
    return member === undefined ? [] : [[name, member]];
  });
  return Object.fromEntries(allowed);
};

/**
 * Judges a state change by its effect: a member that keeps its value is no change, and a member that is replaced, removed or overwritten together
 * with what is around it is one. What the rules do not allow is left out, unless its rule clamps it; the caller refuses the verdict if a break says so.
 * @param data the state before the change
 * @param change a merge patch (RFC 7396) of bounded size and depth
 */
export const judgeChange = (rules: readonly StateRule[], data: JsonObject, change: JsonObject): JudgedChange => {
  const judging: Judging = { rules: prepare(rules), breaks: [], left: LOOKED_AT };
  const patch = judgeMembers(judging, [], data, change);
  return { patch, breaks: judging.breaks };
};
