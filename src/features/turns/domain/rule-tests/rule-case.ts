import type { Json, JsonObject } from '../../../../kernel/base/json.js';

/** What a case expects of a verdict. Only the members that are there are compared. */
export type ExpectedVerdict = {
  readonly valid: boolean;
  readonly action?: { readonly type?: string; readonly target?: string; readonly payload?: Json };
  readonly reason?: string;
  readonly drRuleId?: string;
  readonly dialogue?: string;
  readonly stateDelta?: JsonObject;
  readonly replacedBy?: string;
  /** The ids of all rules that matched, in the order of the set. */
  readonly matched?: readonly string[];
};

/** One test of a ruleset: a situation, what a model writes in it, and the verdict that is expected. */
export type RuleCase = {
  readonly name: string;
  /** The recorded data of the NPC. */
  readonly state: JsonObject;
  /** A merge patch of the state for this decision alone. */
  readonly npcState: JsonObject;
  readonly facts: JsonObject;
  readonly context: JsonObject;
  readonly observation: string;
  /** All that the model writes. */
  readonly output: string;
  readonly expected: ExpectedVerdict;
};

/** Tests of one ruleset. */
export type RuleTests = {
  /** The path of its file, or the set itself. */
  readonly ruleset: string | JsonObject;
  readonly cases: readonly RuleCase[];
};
