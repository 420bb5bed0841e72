import { declarationsFrom } from './actions/action-declaration.js';
import { declaredProblemsOf } from './actions/declared-problems.js';
import type { ReadActions } from './actions/read-actions.js';
import { readActionWords } from './action-words.js';
import { rootProblem } from './conditions/path.js';
import { isProblem, type Problem, shownText } from './conditions/problem.js';
import { readConditions } from './conditions/read-condition.js';
import type { ReadOwnPrompt } from './prompt/read-own-prompt.js';
import type { ReadStateRules } from './state-rules/read-state-rules.js';
import { namesOf } from './state-rules/state-rule.js';
import { unknownMembers } from './members.js';
import type { DirectiveRule } from './ruleset.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { nearestAmong } from '../../../kernel/base/nearest.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { shortPointerPart } from '../../../kernel/base/json-pointer.js';

/** Why a set cannot be registered in grammar 2. A problem of the set itself has an empty `drRuleId`. */
export type RulesetProblem = Problem & {
  readonly drRuleId: string;
  /** The JSON Pointer (RFC 6901) of the member in the body. */
  readonly pointer: string;
};

/** How many problems a refusal lists. */
const MOST_PROBLEMS = 100;
/** How much of an unknown name a pointer shows, in UTF-16 units. */
const NAME_CHARS = 128;

const ruleAt = (rules: readonly DirectiveRule[], position: number | null): string =>
  position === null ? '' : (rules[position]?.drRuleId ?? '');

/** The members of a body whose names resemble known ones. */
const memberProblems = (body: JsonObject, rules: readonly DirectiveRule[]): readonly RulesetProblem[] => {
  const { members, isCut } = unknownMembers(body);
  const problems = members.flatMap(({ rule, name, meant }): readonly RulesetProblem[] => {
    if (meant === undefined) return [];
    const pointer = `${rule === null ? '' : `/rulesetRules/${rule}`}/${shortPointerPart(name, NAME_CHARS)}`;
    const message = `There is no member ${shownText(name)}.`;
    return [{ drRuleId: ruleAt(rules, rule), pointer, message, meant }];
  });
  const many = { drRuleId: '', pointer: '', message: 'The set has too many different unknown members.' };
  return isCut ? [...problems, many] : problems;
};

const isPairList = (pairs: Json | undefined, length: number): boolean =>
  (pairs ?? null) === null || (Array.isArray(pairs) && pairs.length === length);

/** Whether a state rule declares a member of the state with this name. */
type IsDeclared = (name: string) => boolean;

/**
 * What grammar 2 refuses in the conditions and the action of a rule, by its member.
 * @param isDeclared without it, the set has no state rules
 */
export const problemsOfRule = (
  rule: DirectiveRule,
  isDeclared: IsDeclared = () => false,
): readonly { readonly member: string; readonly problem: Problem }[] => {
  const conditions = readConditions(rule).flatMap((read, at) => {
    const misspelt = rootProblem(rule.ruleCondition[at]?.[0] ?? '', isDeclared);
    if (misspelt !== null) return [{ member: `ruleCondition/${at}/0`, problem: misspelt }];
    if (!isProblem(read)) return [];
    const { member, ...problem } = read;
    return [{ member: `ruleCondition/${at}/${member}`, problem }];
  });
  const action = readActionWords(rule);
  return isProblem(action) ? [...conditions, { member: 'ruleAction', problem: action }] : conditions;
};

/** The limit of a line that a player hears, in UTF-16 units. */
const LINE_CHARS = 2_000;

const lineProblems = (
  { ruleRefusal = null }: { readonly ruleRefusal?: Json },
  drRuleId: string,
  at: string,
): readonly RulesetProblem[] =>
  ruleRefusal === null || (typeof ruleRefusal === 'string' && ruleRefusal.length <= LINE_CHARS)
    ? []
    : [{ drRuleId, pointer: `${at}/ruleRefusal`, message: `Must be a text of at most ${LINE_CHARS} characters.` }];

const onBreakProblems = (
  { ruleOnBreak = null }: { readonly ruleOnBreak?: Json },
  rule: DirectiveRule,
  at: string,
): readonly RulesetProblem[] => {
  if (ruleOnBreak === null || ruleOnBreak === '') return [];
  const { drRuleId } = rule;
  const pointer = `${at}/ruleOnBreak`;
  if (ruleOnBreak !== 'replace' && ruleOnBreak !== 'refuse')
    return [{ drRuleId, pointer, message: 'Must be "refuse" or "replace".' }];
  const action = readActionWords(rule);
  return isProblem(action) || action.kind === 'require'
    ? []
    : [{ drRuleId, pointer, message: 'Only a rule that requires an action can be broken this way.' }];
};

/** How many different types that are not declared are compared with the declared ones. */
const COMPARED_TYPES = 100;

/** The problems of what a set declares, or if there are none, of the rules that do not agree with it. */
const actionProblems = (
  { actions, problems }: ReadActions,
  rules: readonly DirectiveRule[],
): readonly RulesetProblem[] => {
  if (problems.length > 0) return problems.map((one) => ({ drRuleId: '', ...one, pointer: `/actions${one.pointer}` }));
  if (actions === null) return [];
  const declarations = declarationsFrom(actions);
  const known = { declarations, nearest: nearestAmong([...declarations.keys()], COMPARED_TYPES) };
  return rules.flatMap((rule, position) =>
    declaredProblemsOf(rule, known).map(({ member, problem }) => ({
      drRuleId: rule.drRuleId,
      pointer: `/rulesetRules/${position}/${member}`,
      ...problem,
    })),
  );
};

/** What grammar 2 refuses in a rule as it was sent, and as it was read. */
const problemsOfSent = (
  sent: Json | undefined,
  rule: DirectiveRule,
  at: string,
  isDeclared: IsDeclared,
): readonly RulesetProblem[] => {
  const { drRuleId } = rule;
  const pairs = isObject(sent) ? sent['ruleCondition'] : undefined;
  const unread = {
    drRuleId,
    pointer: `${at}/ruleCondition`,
    message: 'Each condition is a pair of a key and a value.',
  };
  return [
    ...(isPairList(pairs, rule.ruleCondition.length) ? [] : [unread]),
    ...(isObject(sent) ? [...lineProblems(sent, drRuleId, at), ...onBreakProblems(sent, rule, at)] : []),
    ...problemsOfRule(rule, isDeclared).map(({ member, problem }) => ({
      drRuleId,
      pointer: `${at}/${member}`,
      ...problem,
    })),
  ];
};

/** What a set says beside its rules, as it was read. */
export type ReadDeclarations = {
  readonly stateRules: ReadStateRules;
  readonly actions: ReadActions;
  readonly ownPrompt: ReadOwnPrompt;
};

/** Everything that grammar 2 refuses in a set, whose cost is within RULESET_BOUNDS, in slices of one rule. @param body the set as it was sent */
export function* problemsOf(
  body: JsonObject,
  rules: readonly DirectiveRule[],
  { stateRules, actions, ownPrompt }: ReadDeclarations,
): Sliced<readonly RulesetProblem[]> {
  const declared = new Set(stateRules.rules.map((rule) => namesOf(rule)[0]));
  const problems = [
    ...memberProblems(body, rules),
    ...lineProblems(body, '', ''),
    ...stateRules.problems.map((one) => ({
      drRuleId: '',
      ...one,
      pointer: `/ruleState${one.pointer}`,
    })),
    ...ownPrompt.problems.map((one) => ({ drRuleId: '', ...one, pointer: `/prompt${one.pointer}` })),
  ];
  yield rules.length;
  problems.push(...actionProblems(actions, rules));
  const sent = Array.isArray(body['rulesetRules']) ? (body['rulesetRules'] as readonly Json[]) : [];
  for (const [position, rule] of rules.entries()) {
    yield rule.ruleCondition.length;
    problems.push(...problemsOfSent(sent[position], rule, `/rulesetRules/${position}`, (name) => declared.has(name)));
  }
  return problems;
}

/** The refusal of a set with problems. @param at the JSON Pointer of the set in the request */
export const rulesInvalid = (problems: readonly RulesetProblem[], at: string): Rejection =>
  new Rejection('RULES_INVALID', {
    details: {
      problems: problems.slice(0, MOST_PROBLEMS).map((one) => ({ ...one, pointer: at + one.pointer })),
      ...(problems.length > MOST_PROBLEMS ? { problemsLeftOut: problems.length - MOST_PROBLEMS } : {}),
    },
  });
