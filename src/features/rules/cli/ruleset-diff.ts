import { isDeepStrictEqual } from 'node:util';

import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';

/** The rules are compared one by one. */
const RULES = 'rulesetRules';

const shown = (value: Json | undefined): string => (value === undefined ? 'absent' : JSON.stringify(value));

const changesIn = (before: JsonObject, after: JsonObject, indent: string): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => name !== RULES && !isDeepStrictEqual(before[name], after[name]))
    .map((name) => `${indent}${name}: ${shown(before[name])} -> ${shown(after[name])}`);

const rulesIn = (set: JsonObject): readonly JsonObject[] => {
  const rules: Json = set[RULES] ?? [];
  return Array.isArray(rules) ? rules.filter(isObject) : [];
};
const idOf = ({ drRuleId }: JsonObject): string => (typeof drRuleId === 'string' ? drRuleId : '');

/**
 * How a ruleset changed, as lines: its own members, then rules that are gone (`-`), new (`+`), changed or moved (`~`). Empty if nothing changed that
 * matters.
 */
export const rulesetDiff = (before: JsonObject, after: JsonObject): readonly string[] => {
  const [old, now] = [rulesIn(before), rulesIn(after)];
  const oldIds = old.map(idOf);
  const newIds = now.map(idOf);
  const stayed = (ids: readonly string[], others: readonly string[]): readonly string[] =>
    ids.filter((id) => others.includes(id));
  const isMoved = !isDeepStrictEqual(stayed(oldIds, newIds), stayed(newIds, oldIds));
  return [
    ...changesIn(before, after, ''),
    ...old.filter((rule) => !newIds.includes(idOf(rule))).map((rule) => `- ${idOf(rule)}: ${JSON.stringify(rule)}`),
    ...now.flatMap((rule) => {
      const was = old.find((one) => idOf(one) === idOf(rule));
      if (was === undefined) return [`+ ${idOf(rule)}: ${JSON.stringify(rule)}`];
      const changes = changesIn(was, rule, '    ');
      return changes.length === 0 ? [] : [`~ ${idOf(rule)}`, ...changes];
    }),
    ...(isMoved ? [`~ order: ${stayed(newIds, oldIds).join(', ')}`] : []),
  ];
};
