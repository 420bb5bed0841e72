import type { Json, JsonObject } from '../../../kernel/base/json.js';

/** What a server adds to a set. */
const ADDED: readonly string[] = ['version', 'warnings', 'observationChars'];
/** The members of a rule that registration makes texts of, `""` by default. */
const TEXTS: readonly string[] = ['ruleName', 'ruleAction', 'ruleReason'];

const isDefault = (name: string, value: Json): boolean =>
  value === null ||
  (TEXTS.includes(name) && value === '') ||
  (name === 'rulePriority' && value === 0) ||
  (name === 'ruleCondition' && Array.isArray(value) && value.length === 0);

/** A stored set as a person would write it: without what a server adds, and without defaults. Its registration makes the same set again. */
export const writtenRuleset = ({ rulesetRules, ...set }: JsonObject): JsonObject => ({
  ...Object.fromEntries(Object.entries(set).filter(([name, value]) => value !== null && !ADDED.includes(name))),
  rulesetRules: (rulesetRules as readonly JsonObject[]).map((rule) =>
    Object.fromEntries(Object.entries(rule).filter(([name, value]) => !isDefault(name, value))),
  ),
});
