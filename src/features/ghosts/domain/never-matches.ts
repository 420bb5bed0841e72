import { type ConditionAlternative, conditionAlternatives } from '../../rules/domain/condition-alternatives.js';
import { comparedNumber, kindOf, TARGET_KEY } from '../../rules/domain/condition.js';
import type { DirectiveRule } from '../../rules/domain/ruleset.js';
import { isActionType } from '../../rules/domain/action-type.js';
import { meet, type Stretch, WHOLE_LINE } from './number-line.js';

/**
 * Finds rules that no situation matches. It looks only at keys whose values are always one number, or one string: the value of any other key may be a
 * list, in which a different element may satisfy each condition.
 */

const BOUNDS = ['minX', 'maxX', 'minY', 'maxY'].map((side) => `context.worldState.bounds.${side}`);
/** The keys whose values, if present, are one number in every turn. */
export type NumberKeys = ReadonlySet<string>;
/** In every turn of a ghost that plays in the world of this server (observation.ts). */
export const WORLD_NUMBERS: NumberKeys = new Set(['hp', 'maxHp', 'position.x', 'position.y', ...BOUNDS]);
/** A remote game may send any value under any key. */
export const NO_NUMBERS: NumberKeys = new Set();
/** A member that, like the target, is a string in every response. */
const TYPE = 'action.type';

/** The requirement of one condition: one of these. */
type Asked = readonly ConditionAlternative[];

/**
 * Numbers are compared with a text by their own text, which begins with `-` or a digit. If an operand begins like that too, each number may be on
 * either side.
 */
const besideText = (isBelow: boolean, [first = '']: string): readonly Stretch[] =>
  (isBelow && first < '-') || (!isBelow && first > '9') ? [] : [WHOLE_LINE];

/** The numbers that satisfy an alternative, or slightly more. */
const numbersOf = (asked: ConditionAlternative): readonly Stretch[] => {
  switch (asked.is) {
    case 'present':
      return [WHOLE_LINE];
    case 'exactly': {
      const at = Number(asked.text);
      return Number.isFinite(at) && JSON.stringify(at) === asked.text
        ? [
            [
              { at, after: false },
              { at, after: true },
            ],
          ]
        : [];
    }
    case 'none': {
      const others = [...new Set(asked.of.flatMap((operand) => comparedNumber(operand) ?? []))].toSorted(
        (a, b) => a - b,
      );
      const ends = [WHOLE_LINE[0], ...others.map((at) => ({ at, after: true }))];
      return ends.map((from, index): Stretch => {
        const at = others[index];
        return [from, at === undefined ? WHOLE_LINE[1] : { at, after: false }];
      });
    }
    case 'order': {
      const { operator, operand } = asked;
      const isBelow = operator.startsWith('<');
      const at = comparedNumber(operand);
      if (at === undefined) return besideText(isBelow, operand);
      const cut = { at, after: operator === '<=' || operator === '>' };
      return [isBelow ? [WHOLE_LINE[0], cut] : [cut, WHOLE_LINE[1]]];
    }
  }
};

/** The strings that satisfy a condition: these, and all others except some kinds of them (condition.ts) or, with null, no others. */
type Texts = { readonly these: ReadonlySet<string>; readonly but: ReadonlySet<string> | null };

const textsOf = (key: string, condition: Asked): Texts => {
  const exact = condition.flatMap((asked) => (asked.is === 'exactly' ? [asked.text] : []));
  const these = new Set(key === TYPE ? exact.filter(isActionType) : exact);
  // An alternative that leaves out some texts accepts all others, so the condition leaves out what all of its alternatives do.
  const leftOut = condition.flatMap((asked) => {
    if (asked.is === 'none') return [new Set(asked.of.map(kindOf))];
    return asked.is === 'present' ? [new Set(key === TARGET_KEY ? [kindOf('')] : [])] : [];
  });
  const counts = new Map<string, number>();
  for (const kind of leftOut.flatMap((kinds) => [...kinds])) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const byAll = [...counts].flatMap(([kind, count]) => (count === leftOut.length ? [kind] : []));
  const but = leftOut.length === 0 ? null : new Set(byAll);
  return { these, but };
};

/** Whether some string satisfies all conditions: one that none of them names, or one that the shortest list names. */
const textsMeet = (conditions: readonly Texts[]): boolean => {
  const lists = conditions.flatMap(({ these, but }) => (but === null ? [these] : []));
  const [shortest] = lists.toSorted((one, other) => one.size - other.size);
  if (shortest === undefined) return true;
  return [...shortest].some((text) =>
    conditions.every(({ these, but }) => these.has(text) || (but !== null && !but.has(kindOf(text)))),
  );
};

/** Whether conditions on a key may hold at the same time, as far as is known. */
const mayHold = (key: string, conditions: readonly Asked[], numbers: NumberKeys): boolean => {
  if (numbers.has(key)) return meet(conditions.map((condition) => condition.flatMap(numbersOf)));
  // An order of strings is not evaluated.
  const isJudged = [TYPE, TARGET_KEY].includes(key) && !conditions.flat().some(({ is }) => is === 'order');
  return !isJudged || textsMeet(conditions.map((condition) => textsOf(key, condition)));
};

/** Why a rule can never match, as a sentence; null if it may. `tests`: how many alternatives of its conditions were looked at. */
export const whyNever = (
  { ruleCondition }: DirectiveRule,
  numbers: NumberKeys,
): { readonly why: string | null; readonly tests: number } => {
  let tests = 0;
  for (const key of new Set(ruleCondition.map(([one]) => one))) {
    const conditions = ruleCondition.filter(([one]) => one === key);
    const asked = conditions.map(([, value]) => conditionAlternatives(value));
    tests += asked.flat().length;
    if (mayHold(key, asked, numbers)) continue;
    const why = `no value of ${key} is ${conditions.map(([, value]) => JSON.stringify(value)).join(' and ')}.`;
    return { why, tests };
  }
  return { why: null, tests };
};
