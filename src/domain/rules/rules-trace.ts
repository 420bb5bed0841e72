import type { Json } from '../shared/json.js';

/** Which rule held, and what each of its conditions made of what its key saw (contract 2.8, 10.2). */
export type RuleTrace = {
  readonly drRuleId: string;
  readonly matched: boolean;
  /** Absent when the rule has none. */
  readonly conditions?: readonly { readonly key: string; readonly expected: string; readonly holds: boolean }[];
  /** Absent when the rule has no pattern. */
  readonly patternHolds?: boolean;
};

/** What a key saw, null when it was missing; `shortened` when not all of it is shown. */
export type SeenValue = { readonly key: string; readonly value: Json; readonly shortened?: true };

/** All rules of a set, and what their keys saw, each once; `seenLeftOut` counts the keys for which there was no room. */
export type RulesTrace = {
  readonly rules: readonly RuleTrace[];
  readonly seen: readonly SeenValue[];
  readonly seenLeftOut?: number;
};
