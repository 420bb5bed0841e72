import type { Json } from '../../../kernel/base/json.js';

/** The outcome of a condition. */
export type ConditionTrace = {
  readonly key: string;
  readonly expected: string;
  readonly holds: boolean;
  /** Why it cannot be decided; only in grammar 2, and only while the record has room. */
  readonly error?: string;
};

/** A rule, whether it matched, and the outcome of each of its conditions. */
export type RuleTrace = {
  readonly drRuleId: string;
  readonly matched: boolean;
  /** Absent if the rule has none. */
  readonly conditions?: readonly ConditionTrace[];
  /** Absent if the rule has no pattern. */
  readonly patternHolds?: boolean;
};

/** What a key saw; null if the key was missing, `shortened` if only a part is shown. */
export type SeenValue = { readonly key: string; readonly value: Json; readonly shortened?: true };

/** All rules of a ruleset, and what each key saw, once. `seenLeftOut` counts the keys for which there was no room. */
export type RulesTrace = {
  readonly rules: readonly RuleTrace[];
  readonly seen: readonly SeenValue[];
  readonly seenLeftOut?: number;
};
