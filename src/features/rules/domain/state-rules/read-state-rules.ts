import { type Problem, problem, shownText } from '../conditions/problem.js';
import { areSlips, bareOf, LONGEST_NAME } from '../../../../kernel/base/alike.js';
import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import { LISTED_VALUES, onBreaks, PATH_NAMES, STATE_RULES, stateTypes, type StateRule } from './state-rule.js';
import { shortPointerPart } from '../../../../kernel/base/json-pointer.js';

/** A problem, and the JSON Pointer (RFC 6901) of what it is about, from the list of state rules. */
export type StateRuleProblem = Problem & { readonly pointer: string };

const MEMBERS = ['path', 'writer', 'type', 'min', 'max', 'step', 'values', 'optional', 'onBreak'] as const;
type Member = (typeof MEMBERS)[number];
const BARE_MEMBERS = MEMBERS.map((name) => [bareOf(name), name] as const);
/** What the paths of conditions begin with. */
const OTHER_ROOTS: readonly string[] = [
  ...['state', 'npcState', 'context', 'facts', 'player', 'action', 'delta', 'after', 'observation'],
];
/** How many UTF-16 units a path may have. */
const PATH_CHARS = 256;

const isScalar = (value: Json): boolean => typeof value !== 'object';

const oneOf = (value: Json, allowed: readonly string[]): Problem | null =>
  typeof value === 'string' && allowed.includes(value)
    ? null
    : problem(`Must be one of ${allowed.map((one) => JSON.stringify(one)).join(', ')}.`);

const aNumber = (value: Json): Problem | null =>
  typeof value === 'number' ? null : problem(`Must be a number, not ${shownText(JSON.stringify(value))}.`);

const pathProblem = (value: Json): Problem | null => {
  if (typeof value !== 'string' || value === '') return problem('Must be names separated by dots, such as quest.done.');
  if (value.length > PATH_CHARS) return problem(`Must have at most ${PATH_CHARS} characters.`);
  const names = value.split('.');
  const [first = '', ...more] = names;
  if (OTHER_ROOTS.some((root) => root.toLowerCase() === first.toLowerCase()))
    return problem(
      'The path begins below the state, and only the state has state rules.',
      more.length > 0 && /state$/i.test(first) ? more.join('.') : undefined,
    );
  if (names.some((name) => name !== '*' && /[[\]/,*\s]/.test(name)))
    return problem(
      'A name in the path has one of [ ] / , * or a space. A list needs none: bag.qty is in each element.',
    );
  if (names.length > PATH_NAMES) return problem(`Must have at most ${PATH_NAMES} names.`);
  return names.some((name) => name === '' || name !== name.trim())
    ? problem('A name in the path is empty, or begins or ends with a space.')
    : null;
};

const checks: Readonly<Record<Member, (value: Json) => Problem | null>> = {
  path: pathProblem,
  writer: (value) => oneOf(value, ['game', 'model']),
  type: (value) => oneOf(value, stateTypes),
  min: aNumber,
  max: aNumber,
  step: (value) => (typeof value === 'number' && value >= 0 ? null : problem('Must be a number that is not negative.')),
  values: (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= LISTED_VALUES && value.every(isScalar)
      ? null
      : problem(`Must list 1 to ${LISTED_VALUES} texts, numbers or booleans.`),
  optional: (value) => (typeof value === 'boolean' ? null : problem('Must be true or false.')),
  onBreak: (value) => oneOf(value, onBreaks),
};

const isMember = (name: string): name is Member => (MEMBERS as readonly string[]).includes(name);

/** What does not fit together in a rule whose members are valid. */
const misfit = ({ writer, type, min, max, step, values, optional, onBreak }: StateRule): Problem | null => {
  const limits = [type, min, max, step, values, optional].some((limit) => limit !== undefined);
  if (writer === 'game') {
    if (limits) return problem('A model never changes what the game writes, so there is nothing to limit.');
    return onBreak === 'clamp' ? problem('What the game writes cannot be clamped.', 'leave_out') : null;
  }
  if (min !== undefined && max !== undefined && min > max) return problem('min is above max, so no value is allowed.');
  const isNumeric = type === undefined || type === 'number' || type === 'integer';
  if (!isNumeric && (min !== undefined || max !== undefined || step !== undefined))
    return problem(`min, max and step limit numbers, not values of the type ${type}.`);
  return null;
};

const readOne = (body: Json, at: string): StateRule | readonly StateRuleProblem[] => {
  if (!isObject(body)) return [{ pointer: at, message: 'Must be an object.' }];
  // As everywhere in a set, null and the empty string are no value.
  const given = Object.entries(body).filter(([, value]) => value !== null && value !== '');
  const problems = given.flatMap(([name, value]): readonly StateRuleProblem[] => {
    const pointer = `${at}/${shortPointerPart(name, LONGEST_NAME)}`;
    if (!isMember(name)) {
      const bare = name.length > LONGEST_NAME ? null : bareOf(name);
      const meant = bare === null ? undefined : BARE_MEMBERS.find(([known]) => areSlips(bare, known))?.[1];
      return [{ pointer, ...problem(`There is no member ${shownText(name)}.`, meant) }];
    }
    const found = checks[name](value);
    return found === null ? [] : [{ pointer, ...found }];
  });
  const missing = (['path', 'writer'] as const)
    .filter((name) => !given.some(([one]) => one === name))
    .map((name) => ({ pointer: `${at}/${name}`, message: 'Is missing.' }));
  if (problems.length + missing.length > 0) return [...problems, ...missing];
  const { optional, ...members }: JsonObject = Object.fromEntries<Json>(given);
  const rule = { ...members, ...(optional === true ? { optional } : {}) } as unknown as StateRule;
  const found = misfit(rule);
  return found === null ? rule : [{ pointer: at, ...found }];
};

/** The state rules of a set, or what is wrong with them. */
export type ReadStateRules = {
  readonly rules: readonly StateRule[];
  readonly problems: readonly StateRuleProblem[];
};

/** Reads the state rules of a set, or finds what is wrong with them. Nothing, null and `[]` are no rules. */
export const readStateRules = (body: Json | undefined): ReadStateRules => {
  if (body === undefined || body === null) return { rules: [], problems: [] };
  if (!Array.isArray(body))
    return { rules: [], problems: [{ pointer: '', message: 'Must be a list of state rules.' }] };
  if (body.length > STATE_RULES)
    return { rules: [], problems: [{ pointer: '', message: `Must have at most ${STATE_RULES} state rules.` }] };
  const read = (body as readonly Json[]).map((one, index) => readOne(one, `/${index}`));
  const rules = read.filter((one): one is StateRule => 'path' in one);
  const repeated = rules.filter(({ path }, index) => rules.findIndex((one) => one.path === path) !== index);
  return {
    rules,
    problems: [
      ...read.flatMap((one) => ('path' in one ? [] : one)),
      ...repeated.map((rule) => ({
        pointer: `/${read.indexOf(rule)}/path`,
        message: 'Another state rule has the same path.',
      })),
    ],
  };
};
