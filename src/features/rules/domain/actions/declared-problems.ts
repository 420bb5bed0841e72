import { readActionWords } from '../action-words.js';
import { isProblem, type Problem, problem, shownText } from '../conditions/problem.js';
import { comparedTypes, readConditions } from '../conditions/read-condition.js';
import type { DirectiveRule, RuleEffect } from '../ruleset.js';
import type { ActionDeclaration, Declarations } from './action-declaration.js';

/** A problem of a rule, by its member. */
export type MemberProblem = { readonly member: string; readonly problem: Problem };

/** What a set declares, and how the nearest type to a name is found. */
export type Known = {
  readonly declarations: Declarations;
  readonly nearest: (type: string) => string | undefined;
};

const NOT_DECLARED = 'is not among the declared actions.';

/** The problem of a text that names types which are not declared; null if all are. */
const namingProblem = (
  text: string,
  types: readonly string[],
  { declarations, nearest: find }: Known,
): Problem | null => {
  const wrong = types.filter((type) => !declarations.has(type));
  const [first] = wrong;
  if (first === undefined) return null;
  const nearest = new Map(wrong.map((type) => [type, find(type)]));
  const isKnown = [...nearest.values()].every((type) => type !== undefined);
  const meant = text.trim().replaceAll(/\w+/g, (word) => nearest.get(word.toUpperCase()) ?? word);
  return problem(`${shownText(first)} ${NOT_DECLARED}`, isKnown ? meant : undefined);
};

const conditionProblems = (rule: DirectiveRule, known: Known): readonly MemberProblem[] =>
  readConditions(rule).flatMap((read, at) => {
    if (isProblem(read)) return [];
    const found = namingProblem(rule.ruleCondition[at]?.[1] ?? '', comparedTypes(read), known);
    return found === null ? [] : [{ member: `ruleCondition/${at}/1`, problem: found }];
  });

const isNeverAimed = (type: string, declarations: Declarations): boolean => declarations.get(type)?.target === 'none';

/** What the action that replaces another one would lack; null if nothing. */
const lackOf = ({ target, payload, takes }: ActionDeclaration, ruleTarget: string | null): string | null => {
  if (target !== undefined && target !== 'none' && ruleTarget === null) return 'a target; name it in ruleTarget';
  if (takes !== undefined && target !== 'item') return 'an item';
  const [first] = payload?.required ?? [];
  return first === undefined ? null : `payload.${first}, which only a model can write`;
};

type Requiring = Extract<RuleEffect, { kind: 'require' | 'allow' }>;

/** What makes it impossible to do what a rule requires. */
const impossible = (rule: DirectiveRule, effect: Requiring, declarations: Declarations): readonly MemberProblem[] => {
  const { types, target } = effect;
  const [first = ''] = types;
  const replaces = rule.ruleOnBreak === 'replace';
  if (target !== null && (replaces ? [first] : types).every((type) => isNeverAimed(type, declarations)))
    return [{ member: 'ruleTarget', problem: problem(`${first} has no target, so it is never aimed at this one.`) }];
  const declaration = declarations.get(first);
  const lack = replaces && declaration !== undefined ? lackOf(declaration, target) : null;
  return lack === null
    ? []
    : [{ member: 'ruleOnBreak', problem: problem(`The ${first} of this rule would lack ${lack}.`, 'refuse') }];
};

/** What grammar 2 refuses in a rule because of the actions that its set declares. */
export const declaredProblemsOf = (rule: DirectiveRule, known: Known): readonly MemberProblem[] => {
  const effect = readActionWords(rule);
  const conditions = conditionProblems(rule, known);
  if (isProblem(effect) || !('types' in effect)) return conditions;
  const named = namingProblem(
    rule.ruleAction,
    effect.types.filter((type) => type !== '*'),
    known,
  );
  if (named !== null) return [...conditions, { member: 'ruleAction', problem: named }];
  return effect.kind === 'require' ? [...conditions, ...impossible(rule, effect, known.declarations)] : conditions;
};
