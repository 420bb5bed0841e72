import { absenceWarning } from './absence.js';
import { besidePayload, likelyPayloadReads } from './actions/likely-payload.js';
import { isNeverList, payloadWarnings } from './actions/payload-reads.js';
import { effectIn, readActionWords } from './action-words.js';
import { isProblem, problemText, shownText } from './conditions/problem.js';
import { leftOutWarnings } from './left-out.js';
import { likelyContextReads } from './likely-context.js';
import type { MistakenRead } from './mistaken-read.js';
import { oneElementWarning } from './one-element.js';
import { requireWarning } from './require-reads.js';
import type { RuleWarning } from './rule-warning.js';
import { declaredIn, undeclaredReads } from './state-rules/undeclared-reads.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import { unknownMembers } from './members.js';
import { problemsOfRule } from './problems.js';
import {
  type DirectiveRule,
  effectOf,
  type Grammar,
  grammarOf,
  onlyDescribes,
  type RulesetContent,
} from './ruleset.js';
import type { JsonObject } from '../../../kernel/base/json.js';

const actionWarning = (rule: DirectiveRule, grammar: Grammar): string | null => {
  const effect = effectIn(grammar, rule);
  if (effect.kind === 'say') {
    if (/^forbid(?:s|den|ding)?(?![a-z])/i.test(effect.sentence)) {
      return 'ruleAction looks like a FORBID, but does not consist of FORBID and a list of action types, as in "FORBID ATTACK, MOVE". It forbids nothing and is only shown to the model.';
    }
    if (/^[a-z][a-z0-9_-]*$/i.test(effect.sentence)) {
      return `ruleAction is not an action type; action types are in upper case (${effect.sentence.toUpperCase().replaceAll('-', '_')}). It directs nothing and is only shown to the model.`;
    }
  }
  const isAimed = (rule.ruleTarget ?? '') !== '';
  if (grammar === 1 && isAimed && effect.kind !== 'direct') {
    return 'ruleTarget is used only when ruleAction is an action type, so it has no effect here.';
  }
  if (isAimed && (effect.kind === 'say' || effect.kind === 'none')) {
    return 'ruleTarget is used only when ruleAction names action types, so it has no effect here.';
  }
  return null;
};

const neverUsed = (rule: DirectiveRule): string | null => {
  if (onlyDescribes(rule)) {
    return (rule.rulePromptSuffix ?? '') === ''
      ? null
      : 'A rule without ruleCondition, ruleObsPattern and ruleAction is only a description, so its rulePromptSuffix is never used.';
  }
  return rule.ruleAction.trim() === '' && (rule.rulePromptSuffix ?? '') === ''
    ? 'The rule can match, but has neither a ruleAction nor a rulePromptSuffix, so a match has no effect.'
    : null;
};

const conditionWarning = ([key, value]: readonly [string, string]): string | null => {
  if (key.startsWith('npcState.')) {
    return `The key ${JSON.stringify(key)} is already looked up in npcState; leave out "npcState.".`;
  }
  const misread = /^(?:=|~|!(?!=))/.test(value.trim()) && value.trim().length > 1;
  return misread
    ? `The value ${JSON.stringify(value)} is compared as exact text; the operators are <, <=, >, >= and !=.`
    : null;
};

/** A request that names its rules in the context is refused, unless it names them in the right place too. */
const rulesetIdWarning = ([key]: readonly [string, string]): string | null =>
  /^context\.ruleset[_-]?id$/i.test(key)
    ? `Requests with ${shownText(key)} are refused, so the rule will not match. Call the member something else.`
    : null;

/** What grammar 2 would refuse in a rule of grammar 1, except what has a warning already. */
const stricterWarnings = (rule: DirectiveRule, warned: (member: string) => boolean): readonly string[] =>
  problemsOfRule(rule).flatMap(({ member, problem }) =>
    warned(member) ? [] : [`Grammar 2 refuses ${member}. ${problemText(problem)}`],
  );

const lenientWarnings = (rule: DirectiveRule): readonly string[] => {
  const action = actionWarning(rule, 1) ?? verbWarning(rule);
  const conditions = rule.ruleCondition.map(conditionWarning);
  const warned = (member: string): boolean =>
    member === 'ruleAction' ? action !== null : conditions[Number(member.split('/')[1])] !== null;
  return [action, neverUsed(rule), ...conditions, ...stricterWarnings(rule, warned)].filter(
    (message) => message !== null,
  );
};

/** `ALLOW SELL` means something in grammar 2 alone. */
const verbWarning = (rule: DirectiveRule): string | null => {
  const read = readActionWords(rule);
  const isOrder = !isProblem(read) && (read.kind === 'require' || read.kind === 'allow');
  return isOrder && effectOf(rule).kind === 'say'
    ? `${shownText(rule.ruleAction)} is only shown to the model. In a set of grammar 2 it would decide.`
    : null;
};

/** A target that looks like a condition. */
const targetWarning = ({ ruleTarget }: DirectiveRule): string | null => {
  const target = (ruleTarget ?? '').trim();
  if (target === '*') return 'ruleTarget "*" is a name, too. Leave it out for any target.';
  if (target.includes('|'))
    return `ruleTarget ${shownText(target)} is one name, without alternatives. Write a rule for each target.`;
  return /^(?:[!<>=~]|(?:any|none|all|count)\()/.test(target)
    ? `ruleTarget ${shownText(target)} is a name and no condition. Write a condition on action.target.`
    : null;
};

const strictWarnings = (rule: DirectiveRule, set: Pick<RulesetContent, 'ruleState' | 'actions'>): readonly string[] => {
  const { kind } = effectIn(2, rule);
  const beside = rule.ruleCondition.map((pair) => besidePayload(rule, set, pair));
  const mayBeLists = rule.ruleCondition.filter((pair, at) => beside[at] === null && !isNeverList(rule, set, pair));
  return [
    actionWarning(rule, 2),
    targetWarning(rule),
    neverUsed(rule),
    ...beside,
    ...(kind === 'forbid' ? rule.ruleCondition.map(absenceWarning) : []),
    ...(kind === 'allow' ? mayBeLists.map(oneElementWarning) : []),
    ...(kind === 'require' ? [requireWarning(rule.ruleCondition, declaredIn(set))] : []),
  ].filter((message) => message !== null);
};

/** A warning about the ruleset itself, which no rule id names. */
const EMPTY: RuleWarning = {
  drRuleId: '',
  message: 'The ruleset has no rules, so it has no effect. Rules belong in rulesetRules.',
};

/** Whether a set without rules has an effect: by its own prompt, what it lets the model write, or what its NPCs can do. */
const worksWithoutRules = ({
  prompt,
  ruleState,
  actions,
  ...set
}: Pick<RulesetContent, 'grammar' | 'ruleState' | 'actions' | 'prompt'>): boolean =>
  grammarOf(set) === 2 && [prompt, ruleState, actions].some((member) => Object.keys(member ?? {}).length > 0);

/** How many warnings about unknown members a registration gets. */
const MEMBER_WARNINGS = 100;

/** What only sets of grammar 2 have. */
const STRICT_MEMBERS = ['actions', 'prompt', 'ruleState', 'ruleRefusal'] as const;

const strictMemberWarnings = (body: JsonObject): readonly RuleWarning[] =>
  STRICT_MEMBERS.filter((name) => (body[name] ?? null) !== null && body[name] !== '').map((name) => ({
    drRuleId: '',
    message: `A set of grammar 1 has no ${name}, so it has no effect. Register the set with grammar 2.`,
  }));

/**
 * A warning for each member that no set and no rule has, or no set of this grammar. In grammar 2 those that resemble a known one are refused instead.
 */
export const memberWarnings = (
  body: JsonObject,
  set: Pick<RulesetContent, 'rulesetRules' | 'grammar'>,
): readonly RuleWarning[] => [
  ...(grammarOf(set) === 1 ? strictMemberWarnings(body) : []),
  ...unknownMembers(body)
    .members.slice(0, MEMBER_WARNINGS)
    .map(({ rule, name, meant }) => ({
      drRuleId: rule === null ? '' : (set.rulesetRules[rule]?.drRuleId ?? ''),
      message: problemText({ message: `There is no member ${shownText(name)}, so it has no effect.`, meant }),
    })),
];

/** How many warnings about members of the state a registration gets, of each kind. */
const STATE_WARNINGS = 32;

/** The first warnings, and one about the others. */
const firstOf = (warnings: readonly RuleWarning[], others: (more: string) => string): readonly RuleWarning[] => {
  const more = warnings.length - STATE_WARNINGS;
  if (more <= 0) return warnings;
  const message = others(`${more} more`);
  return [...warnings.slice(0, STATE_WARNINGS), { drRuleId: '', message }];
};

const mistakenWarnings = (reads: readonly MistakenRead[]): readonly RuleWarning[] =>
  firstOf(
    reads.map(({ drRuleId, key, meant }) => ({
      drRuleId,
      message: `${key} is a member of the NPC's state. Perhaps ${meant} was meant; if not, write state.${key}.`,
    })),
    (more) => `Rules read ${more} members of the state that were probably not meant.`,
  );

/** A warning about each member that a model may change. A key that is probably mistaken is no member of the state, so it gets none. */
const writableByModel = (
  set: Pick<RulesetContent, 'rulesetRules' | 'ruleState'>,
  mistaken: readonly MistakenRead[],
): readonly RuleWarning[] => {
  const keys = new Set(mistaken.map(({ drRuleId, key }) => JSON.stringify([drRuleId, key])));
  const reads = undeclaredReads(set, (drRuleId, key) => keys.has(JSON.stringify([drRuleId, key])));
  return firstOf(
    reads.map(({ drRuleId, path }) => ({
      drRuleId,
      message: `The rule reads ${path}, which the model may change. Say in ruleState who writes it: the game, or the model within limits.`,
    })),
    (more) => `Rules read ${more} members of the state that the model may change.`,
  );
};

/**
 * Every rule that looks as if it decides something but does not, and what a model could change to get round a rule of grammar 2. It works in slices of
 * one rule.
 */
export function* warningsOf(
  set: Pick<RulesetContent, 'rulesetRules' | 'grammar' | 'ruleState' | 'actions' | 'prompt'>,
): Sliced<readonly RuleWarning[]> {
  if (set.rulesetRules.length === 0) return worksWithoutRules(set) ? [] : [EMPTY];
  const isStrict = grammarOf(set) === 2;
  const warnings: RuleWarning[] = [];
  for (const rule of set.rulesetRules) {
    yield rule.ruleCondition.length;
    const messages = [
      ...(isStrict ? strictWarnings(rule, set) : lenientWarnings(rule)),
      ...rule.ruleCondition.map(rulesetIdWarning).filter((message) => message !== null),
    ];
    warnings.push(...messages.map((message) => ({ drRuleId: rule.drRuleId, message })));
  }
  if (!isStrict) return warnings;
  yield set.rulesetRules.length;
  warnings.push(...(yield* leftOutWarnings(set)));
  yield set.rulesetRules.length;
  const [ofContext, ofPayload] = [likelyContextReads(set), likelyPayloadReads(set)];
  warnings.push(...mistakenWarnings(ofContext), ...mistakenWarnings(ofPayload));
  yield set.rulesetRules.length;
  warnings.push(...payloadWarnings(set));
  yield set.rulesetRules.length;
  warnings.push(...writableByModel(set, [...ofContext, ...ofPayload]));
  return warnings;
}

/** All warnings about a set that was sent: about its rules, and about its members. @param body the set as it was sent */
export function* warningsAbout(
  body: JsonObject,
  set: Parameters<typeof warningsOf>[0],
): Sliced<readonly RuleWarning[]> {
  return [...(yield* warningsOf(set)), ...memberWarnings(body, set)];
}
