import { declarationsOf } from '../../../rules/domain/actions/action-declaration.js';
import { type Action, readAction } from '../../../rules/domain/bridge/action.js';
import {
  type BridgeRefusal,
  brokenBy,
  forbiddenBy,
  forbids,
  permits,
  refusedBy,
} from '../../../rules/domain/bridge/refusal.js';
import { undeclared } from '../../../rules/domain/bridge/declared.js';
import { asAnswered, checkAction, situationOf } from '../../../rules/domain/bridge/validate.js';
import { speechOf, withSpeech } from '../../../rules/domain/bridge/world.js';
import { matchRules } from '../../../rules/domain/match.js';
import type { Match, RuleFacts } from '../../../rules/domain/matched.js';
import type { DirectiveRule, RuleEffect } from '../../../rules/domain/ruleset.js';
import { type Json, jsonBytes } from '../../../../kernel/base/json.js';
import { mergePatch } from '../../../../kernel/base/merge-patch.js';
import type { VerdictGrounds } from '../../../npcs/domain/events.js';
import { ACTION_BYTES } from '../../../npcs/domain/recorded-bytes.js';
import type { DecisionInput } from './input.js';
import { ACTION_DEPTH, type ModelOutput } from './model-output.js';
import { seenByRules } from './observation-line.js';
import type { AcceptedChange } from './state-change.js';
import { untilChatToken } from './templates.js';

/** The model's intent: its written action, or one derived from its words (`made`). */
export type Intent =
  | { readonly ok: true; readonly action: Action; readonly made: boolean }
  /** `action`: what is refused, if it could be read. */
  | { readonly ok: false; readonly refusal: BridgeRefusal; readonly action?: Action };

const tooLarge = (reason: string): Intent => ({
  ok: false,
  refusal: {
    code: 'ACTION_TOO_LARGE',
    reason,
    details: { limitBytes: ACTION_BYTES, limitDepth: ACTION_DEPTH },
  },
});

/** The words of an action are spoken like dialogue: chat tokens end them. */
const withoutChatTokens = (action: Action): Action => {
  const said = action.type === 'SPEAK' ? speechOf(action) : undefined;
  return said === undefined ? action : withSpeech(action, said, untilChatToken(said.text));
};

/** Plain dialogue is `SPEAK`; an answer without words and action, which only stores memories or changes state, is `IDLE`. */
export const intentOf = ({ action: written, excess, dialogue, structured }: ModelOutput): Intent => {
  if (excess !== null) return tooLarge(excess);
  if (written === undefined) {
    return { ok: true, action: { type: structured && dialogue === '' ? 'IDLE' : 'SPEAK' }, made: true };
  }
  const read = readAction(written);
  if (!read.ok) return { ok: false, refusal: { code: read.code, reason: read.reason, details: {} } };
  // A model cannot sign: a signature in its output is ordinary text.
  const { signature: _, ...action } = read.action;
  if (jsonBytes(action as Json) > ACTION_BYTES) return tooLarge(`The action is larger than ${ACTION_BYTES} bytes.`);
  return { ok: true, action: withoutChatTokens(action), made: false };
};

/** A refusal: why, by which rule if it was one, and the action that is refused. */
export type RefusedIntent = {
  readonly refusal: BridgeRefusal;
  readonly refusedAction: Action | null;
  readonly rule?: DirectiveRule;
};

export type JudgedIntent = {
  readonly outcome:
    | { readonly action: Action }
    /** A rule replaces the model's action with its own, and says its line. */
    | { readonly action: Action; readonly replacedBy: DirectiveRule }
    | RefusedIntent;
  readonly grounds: VerdictGrounds;
};

/** What rules see of a turn: in grammar 2 also the change of the state, and the observation as the prompt shows it. */
const seenBy = (input: DecisionInput, change: AcceptedChange): RuleFacts =>
  input.ruleset?.grammar === 2
    ? { ...seenByRules(input), delta: change.asked, after: mergePatch(input.npcState, change.patch) }
    : input;

const refusedByRule = (match: Match, refusedAction: Action | null): RefusedIntent => ({
  refusal: refusedBy(match),
  refusedAction,
  rule: match.rule,
});

type Replacing = Match & { readonly effect: Extract<RuleEffect, { kind: 'require' | 'allow' }> };
const replaces = (match: Match): match is Replacing =>
  match.effect.kind === 'require' && match.rule.ruleOnBreak === 'replace';

/**
 * The rule whose action replaces the model's: the one that the action breaks, or for plain words and unreadable actions the highest that requires
 * another one, if no higher rule decides about the words.
 */
const replacing = (matches: readonly Match[], intent: Intent): Replacing | null => {
  const decides = (match: Match): boolean =>
    intent.ok && (forbids(match, intent.action) || permits(match, intent.action));
  const match =
    intent.ok && !intent.made
      ? brokenBy(matches, intent.action)
      : (matches.find((one) => decides(one) || replaces(one)) ?? null);
  return match !== null && replaces(match) && !decides(match) ? match : null;
};

/** Replaces the model's action with the one that a rule requires (of several types the first), unless a higher rule or the world refuses that one. */
const replaceWith = (input: DecisionInput, { rule, effect, rank }: Replacing): JudgedIntent => {
  const [type = ''] = effect.types;
  const required: Action = { type, ...(effect.target === null ? {} : { target: effect.target }) };
  const line = rule.ruleRefusal ?? '';
  const situation = situationOf(input.npcState, input.context, line, declarationsOf(input.ruleset));
  const { checks, refusal, corrected } = checkAction(required, situation);
  const action = corrected ?? required;
  const unchanged = { asked: {}, patch: {} };
  const { matches, trace } = matchRules(input.ruleset, { ...seenBy(input, unchanged), action: asAnswered(action) });
  // The rule itself may not match its own action; what counts is which of the others rank above it.
  const broken = brokenBy(
    matches.filter((match) => match.rank < rank),
    action,
  );
  const grounds = { ...trace, checks };
  if (broken !== null) return { outcome: refusedByRule(broken, action), grounds };
  if (refusal !== null) return { outcome: { refusal, refusedAction: action }, grounds };
  return { outcome: { action, replacedBy: rule }, grounds: { ...grounds, replacedBy: rule.drRuleId } };
};

/** An intent, refused if the ruleset does not declare its action. */
const amongDeclared = (ruleset: DecisionInput['ruleset'], intent: Intent): Intent => {
  if (!intent.ok) return intent;
  const refusal = undeclared(ruleset, intent.action);
  return refusal === null ? intent : { ok: false, refusal, action: intent.action };
};

/** Checks an intent against the rules, then against the world; without a ruleset, checks only its shape. */
export const judgeIntent = (
  input: DecisionInput,
  said: Intent,
  dialogue: string,
  change: AcceptedChange,
): JudgedIntent => {
  const intent = amongDeclared(input.ruleset, said);
  const seen = seenBy(input, change);
  if (!intent.ok) {
    const { matches, trace } = matchRules(input.ruleset, seen);
    const by = replacing(matches, intent);
    if (by !== null) return replaceWith(input, by);
    const { refusal, action = null } = intent;
    return { outcome: { refusal, refusedAction: action }, grounds: { ...trace, checks: [] } };
  }
  const { action, made } = intent;
  if (input.ruleset === null) return { outcome: { action }, grounds: { rules: [], seen: [], checks: [] } };
  // What is made from words has neither target nor payload, and must not fail for that.
  const declarations = made ? null : declarationsOf(input.ruleset);
  const situation = situationOf(input.npcState, input.context, dialogue, declarations);
  const { checks, refusal, corrected } = checkAction(action, situation);
  const standing = corrected ?? action;
  const { matches, trace } = matchRules(input.ruleset, { ...seen, action: asAnswered(standing) });
  const grounds = { ...trace, checks };
  const by = replacing(matches, intent);
  if (by !== null) return replaceWith(input, by);
  const broken = made ? forbiddenBy(matches, action) : brokenBy(matches, action);
  if (broken !== null) return { outcome: refusedByRule(broken, action), grounds };
  return {
    outcome: refusal === null ? { action: standing } : { refusal, refusedAction: action },
    grounds,
  };
};
