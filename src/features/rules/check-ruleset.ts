import type { JsonObject } from '../../kernel/base/json.js';
import { Rejection, type RejectionCode } from '../../kernel/base/rejection.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import { checkOf, type Issue, schemaRejection } from '../../kernel/http/guard/schema-check.js';
import { RulesBody } from './body-schemas.js';
import type { RuleFindings } from './domain/analysis/findings.js';
import { judgeRules } from './domain/analysis/judge-rules.js';
import { writtenNumber } from './domain/conditions/numbers.js';
import { problem } from './domain/conditions/problem.js';
import { normaliseRuleset } from './domain/normalise.js';
import type { RulesetProblem } from './domain/problems.js';
import { type Grammar, type RulesetContent, templates } from './domain/ruleset.js';
import type { RulesetSize } from './domain/ruleset-size.js';
import { warningsAbout } from './domain/warnings.js';
import type { RuleWarning } from './domain/rule-warning.js';
import { valueAt } from '../../kernel/base/json-pointer.js';

/** What a check says about a set that was not registered. */
export type RulesetCheck = RuleFindings & {
  readonly grammar: Grammar;
  /** Why it cannot be registered. Then nothing else is judged. */
  readonly code?: RejectionCode;
  readonly problems: readonly RulesetProblem[];
  readonly problemsLeftOut?: number;
  readonly warnings: readonly RuleWarning[];
};

const checkBody = checkOf('body', RulesBody);

/** The id of the rule that a pointer leads into, as the set would be registered. */
const ruleIdAt = (body: JsonObject, pointer: string): string => {
  const [, position] = /^\/rulesetRules\/(\d+)(?:\/|$)/.exec(pointer) ?? [];
  if (position === undefined) return '';
  const drRuleId = valueAt(body, `/rulesetRules/${position}/drRuleId`);
  return typeof drRuleId === 'string' && drRuleId !== '' ? drRuleId : `rule-${Number(position) + 1}`;
};

/** `"10"` in place of 10. */
const meantAt = (body: JsonObject, { pointer, message }: Issue): { readonly meant?: string } => {
  const value = valueAt(body, pointer);
  const isNumber = typeof value === 'string' && typeof writtenNumber(value.trim()) === 'number';
  return isNumber && /an integer|a number/.test(message) ? { meant: value.trim() } : {};
};

const sizeProblems = ({ details }: Rejection): readonly string[] => {
  const { figures, bounds } = details as { readonly figures?: RulesetSize; readonly bounds?: RulesetSize };
  const names = Object.keys(figures ?? {}) as (keyof RulesetSize)[];
  return names.flatMap((name) => {
    const [figure = 0, bound = 0] = [figures?.[name], bounds?.[name]];
    return figure > bound
      ? [`The set is too large: its ${name} are ${figure}, and at most ${bound} are possible.`]
      : [];
  });
};

/** What a refusal that lists no problems is about, and why. */
const onlyProblem = (body: JsonObject, refusal: Rejection): RulesetProblem => {
  const { drRuleId = '', problem = '' } = refusal.details as { readonly drRuleId?: string; readonly problem?: string };
  const rules = Array.isArray(body['rulesetRules']) ? [...body['rulesetRules'].keys()] : [];
  const pointers = rules.map((position) => `/rulesetRules/${position}`);
  const isNamed = (pointer: string): boolean => ruleIdAt(body, pointer) === drRuleId;
  switch (refusal.code) {
    case 'TEMPLATE_INVALID':
      return { drRuleId, pointer: '/template', message: `Must be ${templates.join(', ')} or null.` };
    case 'RULE_ID_REPEATED':
      return {
        drRuleId,
        pointer: `${pointers.findLast(isNamed) ?? ''}/drRuleId`,
        message: 'Another rule has the same id.',
      };
    case 'PATTERN_INVALID':
      return {
        drRuleId,
        pointer: `${pointers.find(isNamed) ?? ''}/ruleObsPattern`,
        message: `The pattern cannot be used: ${problem}.`,
      };
    default:
      return { drRuleId, pointer: '', message: sizeProblems(refusal).join(' ') || refusal.message };
  }
};

/** The problem of the conditions that a pointer leads into, if they are one pair without the list around it. */
const barePairAt = (body: JsonObject, pointer: string): RulesetProblem | null => {
  const [, conditions] = /^(\/rulesetRules\/\d+\/ruleCondition)\/[01]$/.exec(pointer) ?? [];
  if (conditions === undefined) return null;
  const pair = valueAt(body, conditions);
  if (!Array.isArray(pair) || pair.length !== 2 || typeof pair[0] !== 'string') return null;
  if (typeof pair[1] === 'object') return null;
  const message = 'The value is one pair. It must be a list of pairs.';
  const meant = `[[${pair.map((one) => JSON.stringify(one)).join(', ')}]]`;
  return { drRuleId: ruleIdAt(body, pointer), pointer: conditions, ...problem(message, meant) };
};

/** The problems of a refusal: those that it lists, or itself as the only one. */
const problemsIn = (body: JsonObject, refusal: Rejection): readonly RulesetProblem[] => {
  const { problems, issues } = refusal.details as {
    readonly problems?: readonly RulesetProblem[];
    readonly issues?: readonly Issue[];
  };
  if (problems !== undefined) return problems;
  if (issues === undefined) return [onlyProblem(body, refusal)];
  const bare = new Map(issues.map(({ pointer }) => [pointer, barePairAt(body, pointer)]));
  const pairs = new Map([...bare.values()].flatMap((one) => (one === null ? [] : [[one.pointer, one]])));
  return [
    ...pairs.values(),
    ...issues
      .filter(({ pointer }) => bare.get(pointer) === null)
      .map((issue) => ({
        drRuleId: ruleIdAt(body, issue.pointer),
        pointer: issue.pointer,
        message: `The value ${issue.message}.`,
        ...meantAt(body, issue),
      })),
  ];
};

/** A set without an id gets one when it is registered. */
const UNNAMED = 'unnamed';

const NO_ID: RuleWarning = {
  drRuleId: '',
  message: 'The set has no rulesetId, so each registration makes another set with an id of its own. Add one.',
};

/** Reads a set as `POST /rules` does, without storing it. @param makeId makes the id of a set that has none */
export function* readRuleset(body: JsonObject, makeId: () => string): Sliced<RulesetContent | Rejection> {
  const issues = checkBody(body);
  return issues === null ? yield* normaliseRuleset(body, makeId) : schemaRejection(issues);
}

/** Says everything about a set that `POST /rules` would say, and what its rules can never do, in slices and without storing anything. */
export function* checkRuleset(body: JsonObject): Sliced<RulesetCheck> {
  const grammar: Grammar = body['grammar'] === 1 ? 1 : 2;
  const made: string[] = [];
  const content = yield* readRuleset(body, () => {
    made.push(UNNAMED);
    return UNNAMED;
  });
  if (content instanceof Rejection) {
    const { problemsLeftOut } = content.details as { readonly problemsLeftOut?: number };
    return {
      grammar,
      code: content.code,
      problems: problemsIn(body, content),
      ...(problemsLeftOut === undefined ? {} : { problemsLeftOut }),
      ...{ warnings: [], findings: [], judged: 0, notJudged: [] },
    };
  }
  const warnings = [...(yield* warningsAbout(body, content)), ...made.map(() => NO_ID)];
  return { grammar, problems: [], warnings, ...(yield* judgeRules(content)) };
}
