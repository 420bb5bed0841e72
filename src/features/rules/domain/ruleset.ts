import { isActionType } from './action-type.js';
import type { ActionDeclaration } from './actions/action-declaration.js';
import type { OwnPrompt } from './prompt/own-prompt.js';
import type { StateRule } from './state-rules/state-rule.js';

/** Rulesets in their stored form. Deployed clients depend on the names of the members. */

export const templates = ['Raw', 'ChatML', 'Llama3', 'Alpaca'] as const;
export type Template = (typeof templates)[number];

/** A key (a dotted path) and the value that it must have. */
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
  /** Only in rules that were registered in the short form (promise 5.1d): their entry in the list of bridge rules. */
  readonly ruleDescription?: string;
  readonly ruleActionTypes?: readonly string[];
  /** Only in grammar 2, of a rule that requires: the required action replaces one that breaks the rule. Otherwise that one is refused. */
  readonly ruleOnBreak?: 'replace';
  /** Only in grammar 2: what the player hears when the rule refuses or replaces an action. */
  readonly ruleRefusal?: string;
};

/** How the conditions and actions of a set are read: 1 as in the first release, 2 strictly (docs/reference/rules/conditions.md). */
export type Grammar = 1 | 2;

/** A ruleset before it has a version. */
export type RulesetContent = {
  readonly rulesetId: string;
  readonly rulesetRules: readonly DirectiveRule[];
  /** Null means `Raw`. */
  readonly template: Template | null;
  /** Absent in sets of grammar 1, like the members below. */
  readonly grammar?: 2;
  /** What the player hears when an action is refused and its rule has no line of its own. */
  readonly ruleRefusal?: string;
  /** Who writes which members of the state. */
  readonly ruleState?: readonly StateRule[];
  /** What its NPCs can do, besides SPEAK and IDLE. Without it, everything. */
  readonly actions?: readonly ActionDeclaration[];
  /** How its prompts differ from those of this server. */
  readonly prompt?: OwnPrompt;
  /** How many UTF-16 units of the observation the patterns can search; only in sets with patterns. */
  readonly observationChars?: number;
};

/** One registered version of a ruleset; immutable. Versions count from 1. */
export type DirectiveRuleSet = RulesetContent & { readonly version: number };

/** Names one version of a ruleset. */
export type RulesetRef = { readonly rulesetId: string; readonly version: number };

/**
 * The version that decided. `digest`: base64url SHA-256 of the JCS form of its content; absent from the oldest events. `asked`: the id that the
 * request gave, if another set decided.
 */
export type RulesetUsed = RulesetRef & { readonly digest?: string; readonly asked?: string };

/** The meaning of a rule's `ruleAction`. A `*` among types is every action; a null target is any. */
export type RuleEffect =
  /** Only in grammar 1. */
  | { readonly kind: 'direct'; readonly type: string; readonly target: string | null }
  /** Only in grammar 2. */
  | { readonly kind: 'require' | 'allow'; readonly types: readonly string[]; readonly target: string | null }
  /** In grammar 1 without a target. */
  | { readonly kind: 'forbid'; readonly types: readonly string[]; readonly target?: string | null }
  | { readonly kind: 'say'; readonly sentence: string }
  | { readonly kind: 'none' };

export type DirectEffect = Extract<RuleEffect, { kind: 'direct' }>;

/** Whether an action that follows the higher rule breaks the lower one. */
export const losesTo = (low: DirectEffect, high: DirectEffect): boolean =>
  low.type !== high.type || (low.target !== null && low.target !== high.target);

/** The types after FORBID; null if one of them is not an action type. */
const forbiddenTypes = (list: string): readonly string[] | null => {
  const types = list.split(',').map((type) => type.trim().toUpperCase());
  return types.every((type) => type === '*' || isActionType(type)) ? [...new Set(types)] : null;
};

/** Reads a rule's action in grammar 1: a type, `FORBID <TYPE>[, <TYPE>...]` or `FORBID *` in any letter case, or any other sentence. */
export const effectOf = ({ ruleAction, ruleTarget }: Pick<DirectiveRule, 'ruleAction' | 'ruleTarget'>): RuleEffect => {
  const action = ruleAction.trim();
  if (action === '') return { kind: 'none' };
  const list = /^FORBID\s+(.+)$/isu.exec(action)?.[1];
  const types = list === undefined ? null : forbiddenTypes(list);
  if (types !== null) return { kind: 'forbid', types };
  if (isActionType(action) && action !== 'FORBID') {
    return { kind: 'direct', type: action, target: ruleTarget === '' ? null : ruleTarget };
  }
  return { kind: 'say', sentence: action };
};

/** The grammar of a set. */
export const grammarOf = ({ grammar }: Pick<RulesetContent, 'grammar'>): Grammar => grammar ?? 1;

/** Whether a rule only describes: it is listed and decides nothing. */
export const onlyDescribes = (rule: DirectiveRule): boolean =>
  rule.ruleCondition.length === 0 && (rule.ruleObsPattern ?? '') === '' && rule.ruleAction.trim() === '';
