import { isProblem } from './conditions/problem.js';
import { type Condition, isCel, readCondition } from './conditions/read-condition.js';
import type { RulesetContent } from './ruleset.js';
import { namesOf } from './state-rules/state-rule.js';
import type { RuleWarning } from './rule-warning.js';

/** What requests commonly say in their context, and no state has. */
const USUAL: readonly string[] = [
  ...['hour', 'minute', 'day', 'time', 'timeOfDay', 'weather', 'season', 'worldState', 'constraints'],
];

/** A warning about each rule that reads a member of the state which is probably one of the context: `hour` in place of `context.hour`. */
export const likelyContextWarnings = ({
  rulesetRules,
  ruleState = [],
}: Pick<RulesetContent, 'rulesetRules' | 'ruleState'>): readonly RuleWarning[] => {
  const read = rulesetRules.flatMap(({ drRuleId, ruleCondition }) =>
    ruleCondition.flatMap((pair): readonly (Condition & { readonly drRuleId: string; readonly key: string })[] => {
      const condition = readCondition(pair);
      return isProblem(condition) || isCel(condition) ? [] : [{ ...condition, drRuleId, key: pair[0] }];
    }),
  );
  const ofContext = new Set(read.flatMap(({ path: { root, names } }) => (root === 'context' ? [names[0]] : [])));
  const declared = new Set(ruleState.map((rule) => namesOf(rule)[0]));
  const warned = new Set<string>();
  return read.flatMap(({ drRuleId, key, path: { root, names } }): readonly RuleWarning[] => {
    const [name = ''] = names;
    const isBare = root === 'state' && !key.startsWith('state.');
    if (!isBare || declared.has(name) || !(ofContext.has(name) || USUAL.includes(name))) return [];
    if (warned.size === warned.add(`${drRuleId} ${key}`).size) return [];
    return [
      {
        drRuleId,
        message: `${key} is a member of the NPC's state. Perhaps context.${key} was meant; if not, write state.${key}.`,
      },
    ];
  });
};
