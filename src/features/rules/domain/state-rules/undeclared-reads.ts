import type { Path } from '../conditions/path.js';
import { isProblem } from '../conditions/problem.js';
import { pathOf } from '../conditions/cel/reads.js';
import { type CelCondition, type Condition, isCel, readCondition } from '../conditions/read-condition.js';
import type { RulesetContent } from '../ruleset.js';
import { isIndex } from '../key-tree.js';
import { GAME_MEMBERS, namesOf } from './state-rule.js';

/** The state, and the state with the changes of the verdict. */
const STATE_ROOTS: readonly string[] = ['state', 'after'];

/** What a condition looks at: its path, or all paths of its expression. */
export const pathsReadBy = (read: Condition | CelCondition): readonly Path[] =>
  isCel(read) ? read.cel.reads.map(pathOf) : [read.path];

/** Whether the rules of a set, or the defaults, say who writes a member of the state, or a part of it. */
export const declaredIn = ({
  ruleState = [],
}: Pick<RulesetContent, 'ruleState'>): ((names: readonly string[]) => boolean) => {
  const declared = [...ruleState.map(namesOf), ...GAME_MEMBERS.map((member) => [member])];
  const covers = (names: readonly string[]): boolean =>
    declared.some((path) =>
      // A declaration below what is read covers a part of it, which is as much as can be told here.
      path.every((name, index) => index >= names.length || name === '*' || name === names[index]),
    );
  // A path goes through the elements of lists without naming them.
  return (names) => covers(names) || covers(names.filter((name, index) => index === 0 || !isIndex(name)));
};

/**
 * The members of the state that rules read although nobody declared who writes them, so that the model may: each with the first rule that reads it.
 * @param isMistaken whether a rule's key is probably meant to read something else
 */
export const undeclaredReads = (
  { rulesetRules, ...set }: Pick<RulesetContent, 'rulesetRules' | 'ruleState'>,
  isMistaken: (drRuleId: string, key: string) => boolean,
): readonly {
  readonly drRuleId: string;
  readonly path: string;
}[] => {
  const isDeclared = declaredIn(set);
  const found = new Map<string, string>();
  for (const { drRuleId, ruleCondition } of rulesetRules) {
    for (const pair of ruleCondition) {
      const read = readCondition(pair);
      if (isProblem(read) || isMistaken(drRuleId, pair[0])) continue;
      for (const { root, names } of pathsReadBy(read)) {
        if (!STATE_ROOTS.includes(root) || names.length === 0 || isDeclared(names)) continue;
        const path = names.join('.');
        if (!found.has(path)) found.set(path, drRuleId);
      }
    }
  }
  return Array.from(found, ([path, drRuleId]) => ({ drRuleId, path }));
};
