import { areSlips, type Bare, bareOf, LONGEST_NAME } from '../../../kernel/base/alike.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';

/** The members that a set and a rule of `POST /rules` may have. An answer of the server has no others, so it can be sent back. */
export const KNOWN_MEMBERS = {
  set: [
    ...['rulesetId', 'id', 'rulesetRules', 'template', 'grammar', 'version', 'warnings'],
    ...['ruleRefusal', 'ruleState', 'actions', 'prompt', 'observationChars'],
    // What editors read, see ruleset-schema.ts.
    '$schema',
    // The short form (promise 5.1d).
    ...['ruleName', 'ruleDescription', 'ruleActionTypes'],
  ],
  rule: [
    ...['drRuleId', 'ruleName', 'ruleCondition', 'ruleAction', 'ruleReason', 'ruleTarget', 'rulePriority'],
    ...['ruleObsPattern', 'rulePromptSuffix', 'ruleDescription', 'ruleActionTypes'],
    ...['ruleOnBreak', 'ruleRefusal'],
  ],
} as const;

/** Names that are obvious without their beginning. */
const SHORT_NAMES = {
  set: {
    rules: 'rulesetRules',
    state: 'ruleState',
    stateRules: 'ruleState',
    refusal: 'ruleRefusal',
    ruleActions: 'actions',
    actionTypes: 'actions',
    rulePrompt: 'prompt',
  },
  rule: {
    drRule: 'drRuleId',
    condition: 'ruleCondition',
    conditions: 'ruleCondition',
    action: 'ruleAction',
    reason: 'ruleReason',
    target: 'ruleTarget',
    priority: 'rulePriority',
    pattern: 'ruleObsPattern',
    rulePattern: 'ruleObsPattern',
    observationPattern: 'ruleObsPattern',
    onBreak: 'ruleOnBreak',
    refusal: 'ruleRefusal',
  },
} as const;

/** How many different unknown names of one body are compared with the known ones. */
const COMPARED_NAMES = 200;

/** An unknown member: where it is, and the known one that it resembles. */
export type UnknownMember = {
  /** The position of its rule; null for a member of the set itself. */
  readonly rule: number | null;
  readonly name: string;
  readonly meant?: string;
};

type Owner = keyof typeof KNOWN_MEMBERS;

const bareNames = (owner: Owner): readonly (readonly [Bare, string])[] =>
  [...KNOWN_MEMBERS[owner].map((name) => [name, name] as const), ...Object.entries<string>(SHORT_NAMES[owner])].map(
    ([written, name]) => [bareOf(written), name] as const,
  );
const BARE = { set: bareNames('set'), rule: bareNames('rule') };
const KNOWN = { set: new Set<string>(KNOWN_MEMBERS.set), rule: new Set<string>(KNOWN_MEMBERS.rule) };

const meantBy = (owner: Owner, written: string): string | undefined => {
  if (written.length > LONGEST_NAME) return undefined;
  const bare = bareOf(written);
  return BARE[owner].find(([known]) => areSlips(bare, known))?.[1];
};

/**
 * The unknown members of a set and of its rules.
 * @returns `isCut` if there were more different names than are compared; the rest is left out
 */
export const unknownMembers = (
  body: JsonObject,
): { readonly members: readonly UnknownMember[]; readonly isCut: boolean } => {
  const compared = { set: new Map<string, string | undefined>(), rule: new Map<string, string | undefined>() };
  const members: UnknownMember[] = [];
  let isCut = false;
  const look = (owner: Owner, holder: JsonObject, rule: number | null): void => {
    for (const name of Object.keys(holder)) {
      if (KNOWN[owner].has(name)) continue;
      if (!compared[owner].has(name)) {
        if (compared.set.size + compared.rule.size === COMPARED_NAMES) {
          isCut = true;
          continue;
        }
        compared[owner].set(name, meantBy(owner, name));
      }
      const meant = compared[owner].get(name);
      members.push({ rule, name, ...(meant === undefined ? {} : { meant }) });
    }
  };
  look('set', body, null);
  const rules: Json = body['rulesetRules'] ?? null;
  if (Array.isArray(rules)) for (const [rule, one] of rules.entries()) if (isObject(one)) look('rule', one, rule);
  return { members, isCut };
};
