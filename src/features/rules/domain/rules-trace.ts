import type { Json } from '../../../kernel/base/json.js';

/** A rule that matched or not, with the outcome of each of its conditions. */
export type RuleTrace = {
  readonly drRuleId: string;
  readonly matched: boolean;
  /** Absent when the rule has none. */
  readonly conditions?: readonly { readonly key: string; readonly expected: string; readonly holds: boolean }[];
  /** Absent when the rule has no pattern. */
  readonly patternHolds?: boolean;
};

/** What a key saw; null when the key was missing, `shortened` when not all is shown. */
export type SeenValue = { readonly key: string; readonly value: Json; readonly shortened?: true };

/** All rules of a set, and what each key saw, once. `seenLeftOut` counts the keys for which there was no room. */
export type RulesTrace = {
  readonly rules: readonly RuleTrace[];
  readonly seen: readonly SeenValue[];
  readonly seenLeftOut?: number;
};
