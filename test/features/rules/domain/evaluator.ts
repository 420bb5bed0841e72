import type { Action } from '../../../../src/features/rules/domain/bridge/action.js';
import type { DirectiveRule } from '../../../../src/features/rules/domain/ruleset.js';

/**
 * The matching of rules (reference section 2.8) once more, as brief as possible and without sharing code with the real one: patterns by the JavaScript
 * engine, keys looked up one by one, code points compared as lists. Slow, and correct only for inputs that the test makes.
 */

/** JSON as the test makes it. */
type Value = unknown;
export type Scene = {
  readonly observation: string;
  readonly npcState: Value;
  readonly context: Value;
  readonly action: Action;
  /** Whether the action was made from plain dialogue. */
  readonly made: boolean;
};

const leaves = (value: Value): Value[] => (Array.isArray(value) ? value.slice(0, 1_000).flatMap(leaves) : [value]);

const reach = (value: Value, [name, ...rest]: readonly string[]): Value[] => {
  if (name === undefined) return leaves(value);
  if (Array.isArray(value) && /^(0|[1-9]\d*)$/.test(name)) {
    return Number(name) < value.length ? reach(value[Number(name)], rest) : [];
  }
  return leaves(value).flatMap((one) =>
    typeof one === 'object' && one !== null && Object.keys(one).includes(name)
      ? reach((one as Record<string, Value>)[name], rest)
      : [],
  );
};

const valuesOf = (key: string, scene: Scene): Value[] => {
  const [first = '', ...rest] = key.split('.');
  if (rest.length > 0 && first === 'context') return reach(scene.context, rest);
  if (rest.length > 0 && first === 'action') return reach({ target: '', ...scene.action }, rest);
  return reach(scene.npcState, [first, ...rest]);
};

const asNumber = (value: Value): number | null => {
  const text = typeof value === 'number' ? JSON.stringify(value) : value;
  return typeof text === 'string' && /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/.test(text)
    ? parseFloat(text)
    : null;
};

const asText = (value: Value): string | null =>
  typeof value === 'string' ? value : typeof value === 'object' && value !== null ? null : JSON.stringify(value);

const inOrder = (left: Value, right: string): number | null => {
  const [a, b] = [asNumber(left), asNumber(right)];
  if (a !== null && b !== null) return Math.sign(a - b);
  const text = asText(left);
  if (text === null) return null;
  const [one, other] = [[...text], [...right]].map((chars) => chars.map((char) => char.codePointAt(0) ?? 0));
  for (let index = 0; ; index += 1) {
    const [x = -1, y = -1] = [one?.[index], other?.[index]];
    if (x !== y || x === -1) return Math.sign(x - y);
  }
};

const satisfies = (value: Value, asked: string, key: string): boolean => {
  if (asked === '*') return !(key === 'action.target' && value === '');
  const [, operator, operand = ''] = /^(<=|>=|!=|<|>)([^]*)$/.exec(asked) ?? [];
  if (operator === undefined) return asText(value) === asked;
  const order = inOrder(value, operand.trim());
  if (operator === '!=') return order !== 0;
  if (order === null) return false;
  return (
    (order < 0 && operator.startsWith('<')) ||
    (order > 0 && operator.startsWith('>')) ||
    (order === 0 && operator.endsWith('='))
  );
};

const holds = ([key, asked]: readonly [string, string], scene: Scene): boolean => {
  const alternatives = asked.split('|');
  const neither = asked.startsWith('!=') && alternatives.slice(1).every((one) => !/^([<>*]|!=)/.test(one));
  return valuesOf(key, scene).some((value) =>
    neither
      ? alternatives.every((one, index) => satisfies(value, index === 0 ? one : `!=${one}`, key))
      : alternatives.some((one) => satisfies(value, one, key)),
  );
};

const matches = (rule: DirectiveRule, scene: Scene): boolean => {
  const pattern = rule.ruleObsPattern ?? '';
  if (pattern === '' && rule.ruleCondition.length === 0 && rule.ruleAction.trim() === '') return false;
  if (pattern !== '' && !new RegExp(pattern, 'iu').test(scene.observation)) return false;
  return rule.ruleCondition.every((condition) => holds(condition, scene));
};

const TYPE = /^[A-Z][A-Z0-9_]{0,63}$/;
const forbiddenIn = (action: string): string[] => {
  const [word = '', ...rest] = action.trim().split(/\s+/);
  if (word.toUpperCase() !== 'FORBID' || rest.length === 0) return [];
  const types = rest
    .join(' ')
    .toUpperCase()
    .split(',')
    .map((type) => type.trim());
  return types.every((type) => type === '*' || TYPE.test(type)) ? types : [];
};

/** The rule that refuses the action, and the rules that matched; null when none refuses it. */
export const refusingRule = (
  rules: readonly DirectiveRule[],
  scene: Scene,
): { readonly refusing: string | null; readonly matched: readonly string[] } => {
  const matched = rules.filter((rule) => matches(rule, scene));
  const ranked = matched.toSorted((a, b) => b.rulePriority - a.rulePriority);
  const directs = ({ ruleAction }: DirectiveRule): boolean =>
    TYPE.test(ruleAction.trim()) && ruleAction.trim() !== 'FORBID';
  const winner = ranked.find(directs);
  const broken = ranked.find((rule) => {
    const forbidden = forbiddenIn(rule.ruleAction);
    if (forbidden.includes('*') || forbidden.includes(scene.action.type)) return true;
    if (rule !== winner || scene.made) return false;
    const target = rule.ruleTarget ?? '';
    return rule.ruleAction.trim() !== scene.action.type || (target !== '' && target !== (scene.action.target ?? ''));
  });
  return { refusing: broken?.drRuleId ?? null, matched: matched.map(({ drRuleId }) => drRuleId) };
};
