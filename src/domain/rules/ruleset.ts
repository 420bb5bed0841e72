/** Rule sets as they are stored and read (contract 5.4). The names of members are fixed by deployed clients. */

export const templates = ['Raw', 'ChatML', 'Llama3', 'Alpaca'] as const;
export type Template = (typeof templates)[number];

/** A key, a dotted path, and the value that it must have (contract 2.8). */
export type RuleCondition = readonly [key: string, value: string];

export type DirectiveRule = {
  readonly drRuleId: string;
  readonly ruleName: string;
  /** All of them must hold. */
  readonly ruleCondition: readonly RuleCondition[];
  /** An action type, `FORBID <TYPE>`, `FORBID *`, or a sentence for the prompt. */
  readonly ruleAction: string;
  readonly ruleReason: string;
  readonly ruleTarget: string | null;
  /** The highest wins, ties by position. */
  readonly rulePriority: number;
  /** RE2, matched case-insensitively against the observation. */
  readonly ruleObsPattern: string | null;
  readonly rulePromptSuffix: string | null;
  /** Only in rules that were registered in the poor form (contract 5.1): what they say about themselves in the list of contract 4.3. */
  readonly ruleDescription?: string;
  readonly ruleActionTypes?: readonly string[];
};

/** A set before it has a version. */
export type RulesetContent = {
  readonly rulesetId: string;
  readonly rulesetRules: readonly DirectiveRule[];
  /** Null is `Raw`. */
  readonly template: Template | null;
};

/** One registered version of a set; immutable. Versions count from 1. */
export type DirectiveRuleSet = RulesetContent & { readonly version: number };
