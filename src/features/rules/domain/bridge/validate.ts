import { type Action, readAction } from './action.js';
import { matchRules } from '../match.js';
import type { DirectiveRuleSet } from '../ruleset.js';
import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import { mergePatch } from '../../../../kernel/base/merge-patch.js';
import { type Declarations, declarationsOf } from '../actions/action-declaration.js';
import type { CoreRule, Situation } from './core-rule.js';
import { coreRules } from './core-rules.js';
import { asDeclared, undeclared } from './declared.js';
import { forbiddenBy, refusedBy, type BridgeRefusal } from './refusal.js';
import { asObject } from './world.js';

/** The result of one rule of the bridge; recorded with a verdict. */
type BridgeCheck = {
  readonly brRuleId: string;
  readonly passed: boolean;
  readonly code?: string;
  readonly reason?: string;
  readonly details?: JsonObject;
};

/** The question of `POST /bridge/validate`. */
export type BridgeQuestion = {
  readonly action: Json;
  readonly context: Json;
  /** The recorded state of the named mind; it fills the gaps of `context.npcState`. */
  readonly recorded: JsonObject | null;
  /** What the game has reported of the named mind. */
  readonly facts: JsonObject;
  /** The tenant's default; without one only the shape is checked. */
  readonly ruleset: DirectiveRuleSet | null;
  /** The rules whose pattern matches the empty observation: there is no observation here. */
  readonly patternsHeld: readonly string[];
};

/** Its answer; `code` is null and `details` is empty for a valid action. */
export type BridgeAnswer = {
  readonly valid: boolean;
  readonly reason: string | null;
  readonly correctedAction: Action | null;
  readonly code: string | null;
  readonly details: JsonObject;
  readonly checks: readonly BridgeCheck[];
};

export type CheckedAction = {
  readonly checks: readonly BridgeCheck[];
  readonly refusal: BridgeRefusal | null;
  readonly corrected: Action | null;
};

/** The rules of the world that affect an action. One that is not as it is declared is not tried any further. */
const rulesFor = (action: Action, situation: Situation): readonly CoreRule[] => {
  if (asDeclared.object(action, situation) !== null) return [asDeclared];
  return coreRules.filter((rule) =>
    rule === asDeclared
      ? situation.declarations !== null
      : rule.affectedActions.includes('*') ||
        rule.affectedActions.includes(action.type) ||
        rule.affectsDeclared?.(action, situation) === true,
  );
};

/** Checks an action against every rule of the world that affects it; the first objection refuses it. */
export const checkAction = (action: Action, situation: Situation): CheckedAction => {
  const applied = rulesFor(action, situation);
  const objections = applied.map((rule) => ({ rule, objection: rule.object(action, situation) }));
  const corrected = applied.reduce<Action | null>((best, rule) => rule.correct?.(best ?? action) ?? best, null);
  return {
    checks: objections.map(({ rule: { brRuleId }, objection }) =>
      objection === null ? { brRuleId, passed: true } : { brRuleId, passed: false, ...objection },
    ),
    refusal: objections.find(({ objection }) => objection !== null)?.objection ?? null,
    corrected,
  };
};

/**
 * The parts of a context that the bridge reads; an absent part is empty.
 * @param declarations what the ruleset declares, unless the action need not be as it is declared
 */
export const situationOf = (
  npcState: JsonObject,
  context: Json,
  dialogue: string,
  declarations: Declarations | null = null,
): Situation => {
  const around = isObject(context) ? context : {};
  return {
    npcState,
    worldState: asObject(around['worldState']) ?? {},
    constraints: asObject(around['constraints']) ?? {},
    dialogue,
    declarations,
  };
};

/** An action in the form that responses show and rules see: it always has a target. */
export const asAnswered = (action: Action): Action & JsonObject => {
  const { target = '' } = action;
  return { ...(action as JsonObject), type: action.type, target };
};

const refused = ({ code, reason, details }: BridgeRefusal, checks: readonly BridgeCheck[]): BridgeAnswer => ({
  valid: false,
  reason,
  correctedAction: null,
  code,
  details,
  checks,
});

/**
 * Decides whether an action is allowed. It checks the shape, whether the ruleset declares such an action and what it forbids, then the rules of the
 * world; without a ruleset it checks only the shape. A refusal is an answer, never an error.
 */
export const validateAction = ({
  action: value,
  context,
  recorded,
  facts,
  ruleset,
  patternsHeld,
}: BridgeQuestion): BridgeAnswer => {
  const read = readAction(value);
  if (!read.ok) return refused({ code: read.code, reason: read.reason, details: {} }, []);
  const { action } = read;
  const unknown = undeclared(ruleset, action);
  if (unknown !== null) return refused(unknown, []);
  const given = isObject(context) ? asObject(context['npcState']) : undefined;
  const npcState = mergePatch(recorded ?? {}, given ?? {});
  const { checks, refusal, corrected } =
    ruleset === null
      ? { checks: [], refusal: null, corrected: null }
      : checkAction(action, situationOf(npcState, context, '', declarationsOf(ruleset)));
  const { matches } = matchRules(ruleset, {
    npcState,
    context,
    facts,
    action: asAnswered(corrected ?? action),
    patternsHeld,
  });
  const forbidding = forbiddenBy(matches, action);
  const why = forbidding === null ? refusal : refusedBy(forbidding);
  if (why !== null) return refused(why, checks);
  return { valid: true, reason: null, correctedAction: corrected, code: null, details: {}, checks };
};
