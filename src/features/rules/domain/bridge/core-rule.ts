import type { Declarations } from '../actions/action-declaration.js';
import type { Action } from './action.js';
import type { JsonObject } from '../../../../kernel/base/json.js';
import type { RejectionCode } from '../../../../kernel/base/rejection.js';

/** The situation that an action is checked against. */
export type Situation = {
  readonly npcState: JsonObject;
  readonly worldState: JsonObject;
  readonly constraints: JsonObject;
  /** The dialogue that goes with the action, in a turn. */
  readonly dialogue: string;
  /** What the ruleset declares; null if the action need not be as it is declared. */
  readonly declarations: Declarations | null;
};

/** An agent's client gets the same code. */
export type Objection = { readonly code: RejectionCode; readonly reason: string; readonly details: JsonObject };

/** A built-in rule of the world. `*` affects every action. */
export type CoreRule = {
  readonly brRuleId: string;
  readonly ruleDescription: string;
  readonly affectedActions: readonly string[];
  /** Whether it affects an action that is not among `affectedActions`, because of how it is declared. */
  affectsDeclared?(action: Action, situation: Situation): boolean;
  object(action: Action, situation: Situation): Objection | null;
  /** The corrected action, if only its form is wrong; null if there is nothing to correct. */
  correct?(action: Action): Action | null;
};
