import { parseCondition } from '../rules/condition.js';
import type { DirectiveRule, RuleCondition } from '../rules/ruleset.js';
import { isActionType } from '../shared/action-type.js';
import type { Json } from '../shared/json.js';

/**
 * Finds rules that no situation matches. It looks only at keys whose values are always one number, or one text: of any other key the value may be a
 * list, and of a list one element may satisfy each condition.
 */

const BOUNDS = ['minX', 'maxX', 'minY', 'maxY'].map((side) => `context.worldState.bounds.${side}`);
/** The keys whose values are one number in every turn, if they are there at all. */
export type NumberKeys = ReadonlySet<string>;
/** In every turn of a ghost that plays in the world of this server (observation.ts). */
export const WORLD_NUMBERS: NumberKeys = new Set(['hp', 'maxHp', 'position.x', 'position.y', ...BOUNDS]);
/** A game elsewhere says under any key what it likes. */
export const NO_NUMBERS: NumberKeys = new Set();
/** Texts in every answer (contract 2.4). */
const TYPE = 'action.type';
const TARGET = 'action.target';

const OPERATOR = /^(?:<=|>=|!=|<|>)/;
const ORDER = /^[<>]/;
/** Beyond this, numbers have no neighbours to try. */
const LARGEST = 1e12;
/** More conditions on one key than this are not looked at. */
const CONDITIONS = 16;

const partsOf = ([, value]: RuleCondition): readonly string[] => value.split('|');
const operandsOf = (conditions: readonly RuleCondition[]): readonly string[] =>
  conditions.flatMap(partsOf).map((part) => part.replace(OPERATOR, '').trim());

/** Numbers that satisfy all conditions if any number does: the operands, and between each two more points than conditions may rule out one by one. */
const numbersToTry = (conditions: readonly RuleCondition[]): readonly number[] | null => {
  const operands = operandsOf(conditions)
    .map(Number)
    .filter((operand) => !Number.isNaN(operand));
  if (operands.some((operand) => Math.abs(operand) > LARGEST)) return null;
  const sorted = [...new Set([0, ...operands])].sort((a, b) => a - b);
  const ends = [(sorted[0] ?? 0) - sorted.length - 1, ...sorted, (sorted.at(-1) ?? 0) + sorted.length + 1];
  const parts = sorted.length + 1;
  return ends.flatMap((end, index) => {
    const next = ends[index + 1] ?? end;
    return Array.from({ length: parts }, (_, part) => end + ((next - end) * part) / parts);
  });
};

/** As of numbers; null where an order among texts is asked for. */
const textsToTry = (key: string, conditions: readonly RuleCondition[]): readonly string[] | null => {
  if (conditions.flatMap(partsOf).some((part) => ORDER.test(part))) return null;
  const operands = operandsOf(conditions);
  const other = `OTHER_${operands.length}`;
  const texts = [
    ...operands,
    ...conditions.flatMap(partsOf),
    '',
    other,
    ...operands.map((_, index) => `${other}_${index}`),
  ];
  return key === TYPE ? texts.filter(isActionType) : texts;
};

const valuesToTry = (
  key: string,
  conditions: readonly RuleCondition[],
  numbers: NumberKeys,
): readonly Json[] | null => {
  if (conditions.length > CONDITIONS) return null;
  if (numbers.has(key)) return numbersToTry(conditions);
  return key === TYPE || key === TARGET ? textsToTry(key, conditions) : null;
};

/** Why a rule can never match, as a sentence; null when it may. */
export const whyNever = ({ ruleCondition }: DirectiveRule, numbers: NumberKeys): string | null => {
  for (const key of new Set(ruleCondition.map(([one]) => one))) {
    const conditions = ruleCondition.filter(([one]) => one === key);
    const values = valuesToTry(key, conditions, numbers);
    if (values === null) continue;
    const tests = conditions.map(parseCondition);
    if (values.some((value) => tests.every((test) => test({ values: [value], listed: false })))) continue;
    return `no value of ${key} is ${conditions.map(([, value]) => JSON.stringify(value)).join(' and ')}.`;
  }
  return null;
};
