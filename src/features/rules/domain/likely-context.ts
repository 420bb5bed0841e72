import { isProblem } from './conditions/problem.js';
import { type Condition, isCel, readCondition } from './conditions/read-condition.js';
import type { RulesetContent } from './ruleset.js';
import { namesOf } from './state-rules/state-rule.js';
import { distinctReads, type MistakenRead } from './mistaken-read.js';

/** What requests commonly say in their context, and no state has. */
const USUAL: readonly string[] = [
  ...['hour', 'minute', 'day', 'time', 'timeOfDay', 'weather', 'season', 'worldState', 'constraints'],
];

/** The members of the state that rules read and that are probably ones of the context: `hour` in place of `context.hour`. */
export const likelyContextReads = ({
  rulesetRules,
  ruleState = [],
}: Pick<RulesetContent, 'rulesetRules' | 'ruleState'>): readonly MistakenRead[] => {
  const read = rulesetRules.flatMap(({ drRuleId, ruleCondition }) =>
    ruleCondition.flatMap((pair): readonly (Condition & { readonly drRuleId: string; readonly key: string })[] => {
      const condition = readCondition(pair);
      return isProblem(condition) || isCel(condition) ? [] : [{ ...condition, drRuleId, key: pair[0] }];
    }),
  );
  const ofContext = new Set(read.flatMap(({ path: { root, names } }) => (root === 'context' ? [names[0]] : [])));
  const declared = new Set(ruleState.map((rule) => namesOf(rule)[0]));
  return distinctReads(
    read.flatMap(({ drRuleId, key, path: { root, names } }): readonly MistakenRead[] => {
      const [name = ''] = names;
      const isBare = root === 'state' && !key.startsWith('state.');
      if (!isBare || declared.has(name) || !(ofContext.has(name) || USUAL.includes(name))) return [];
      return [{ drRuleId, key, meant: `context.${key}` }];
    }),
  );
};
