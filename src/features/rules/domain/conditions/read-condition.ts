import { isActionType, toActionType } from '../action-type.js';
import { type CelExpression, readCel } from './cel/read-cel.js';
import type { DirectiveRule, RuleCondition } from '../ruleset.js';
import type { Alternative, Operand } from './alternatives.js';
import { type Path, readPath } from './path.js';
import { isProblem, type Problem, problem, shownText } from './problem.js';
import { readValue } from './read-value.js';

/** A condition that was read. */
export type Condition = { readonly path: Path; readonly alternatives: readonly Alternative[] };

/** A condition in CEL that was read. */
export type CelCondition = { readonly cel: CelExpression };

/** The key of conditions in CEL. */
export const CEL_KEY = 'cel';

/** Whether a condition is in CEL. */
export const isCel = (read: object): read is CelCondition => 'cel' in read;

/** What is wrong with one member of a pair: 0 is the key, 1 the value. */
export type PairProblem = Problem & { readonly member: 0 | 1 };

const operandsOf = (one: Alternative): readonly Operand[] => {
  if (one.is === 'equal') return [one.to];
  if (one.is === 'other') return one.than;
  return 'of' in one ? one.of.flatMap(operandsOf) : [];
};

const isActionTypePath = ({ root, names }: Path): boolean =>
  root === 'action' && names.length === 1 && names[0] === 'type';

/** The texts that a condition compares the type of an action with; none if it is about something else. */
export const comparedTypes = (read: Condition | CelCondition): readonly string[] => {
  if (isCel(read)) return read.cel.actionTypes;
  return isActionTypePath(read.path) ? read.alternatives.flatMap(operandsOf).map(({ text }) => text) : [];
};

/** A text that no type of an action equals. */
const typeProblem = (value: string, alternatives: readonly Alternative[]): Problem | null => {
  const wrong = alternatives.flatMap(operandsOf).flatMap(({ text }) => (isActionType(text) ? [] : [text]));
  const [first] = wrong;
  if (first === undefined) return null;
  const meant = wrong.every((text) => isActionType(toActionType(text)))
    ? wrong.reduce((corrected, text) => corrected.replace(text, toActionType(text)), value)
    : undefined;
  return problem(`${shownText(first)} is not an action type. They consist of upper-case letters, digits and _.`, meant);
};

const readPair = ([key, value]: RuleCondition): Condition | CelCondition | PairProblem => {
  if (key === CEL_KEY) {
    const cel = readCel(value);
    return isProblem(cel) ? { ...cel, member: 1 } : { cel };
  }
  const path = readPath(key);
  if (isProblem(path)) return { ...path, member: 0 };
  const alternatives = readValue(key, value);
  if (isProblem(alternatives)) return { ...alternatives, member: 1 };
  const wrong = isActionTypePath(path) ? typeProblem(value, alternatives) : null;
  return wrong === null ? { path, alternatives } : { ...wrong, member: 1 };
};

/** Pairs are immutable, and read many times while a set is registered: for its size, its problems, its warnings and its findings. */
const known = new WeakMap<RuleCondition, Condition | CelCondition | PairProblem>();

/** Reads one `[key, value]` pair. */
export const readCondition = (pair: RuleCondition): Condition | CelCondition | PairProblem => {
  const read = known.get(pair) ?? readPair(pair);
  known.set(pair, read);
  return read;
};

const listOf = ({ root, names, letter }: Path): string => JSON.stringify([root, ...names.slice(0, letter?.listNames)]);

/** Reads the conditions of a rule, in which a letter belongs to one list. */
export const readConditions = ({
  ruleCondition,
}: Pick<DirectiveRule, 'ruleCondition'>): readonly (Condition | CelCondition | PairProblem)[] => {
  const lists = new Map<string, string>();
  return ruleCondition.map((pair) => {
    const read = readCondition(pair);
    if (isProblem(read) || isCel(read) || read.path.letter === undefined) return read;
    const { name } = read.path.letter;
    const list = listOf(read.path);
    const first = lists.get(name) ?? list;
    lists.set(name, first);
    return first === list
      ? read
      : { ...problem(`The letter ${name} belongs to another list. Use another letter for this one.`), member: 0 };
  });
};
