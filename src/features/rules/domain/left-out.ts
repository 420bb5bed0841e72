import { lackingActions } from './actions/payload-reads.js';
import { absenceWarning } from './absence.js';
import type { Alternative } from './conditions/alternatives.js';
import { pathOf } from './conditions/cel/reads.js';
import type { Path } from './conditions/path.js';
import type { Condition } from './conditions/read-condition.js';
import { type Deciding, decidingIn, isCovered, isForNothing, type Missing, type Read } from './covered.js';
import type { RuleCondition, RulesetContent } from './ruleset.js';
import type { RuleWarning } from './rule-warning.js';
import type { Sliced } from '../../../kernel/base/sliced.js';

/** Whether a model decides if anything is there. The type of an action always is. */
const isOfModel = ({ root, names, letter }: Path): boolean =>
  letter === undefined &&
  names.length > 0 &&
  (root === 'delta' || root === 'after' || (root === 'action' && names[0] !== 'type'));

/** Whether an alternative measures a value, so that a missing one looks like one that passes. */
const isMeasure = (one: Alternative): boolean => {
  if (one.is === 'all') return true;
  return one.is === 'any' ? one.of.some(isMeasure) : ['other', 'number-order', 'text-order', 'range'].includes(one.is);
};

/** Whether a model can make a condition fail by leaving something out. */
const isOpen = ({ path, alternatives }: Condition): boolean =>
  isOfModel(path) && alternatives.some(isMeasure) && !alternatives.some(isForNothing);

const OPPOSITE = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' } as const;

/** The condition that an ALLOW needs in place of a FORBID with this one; null if it has no simple form. */
const oppositeOf = ([key, value]: RuleCondition): string | null => {
  const [, order = '', operand = ''] = /^(<=|>=|<|>)\s*([^|\s]+)$/.exec(value.trim()) ?? [];
  if (order === '') return null;
  return JSON.stringify([key, `all(${OPPOSITE[order as keyof typeof OPPOSITE]}${operand})`]);
};

/** A way round a rule: what a model leaves out for it, how, and what the condition would be without it. */
type WayRound = Missing & { readonly how: string; readonly closed: string };

const waysRound = ({ pair, condition, cel }: Read): readonly WayRound[] => {
  const [key, value] = pair;
  if (condition !== null)
    return isOpen(condition) && absenceWarning(pair) === null
      ? [{ path: condition.path, while: 'missing', how: `leave out ${key}`, closed: `!|${value.trim()}` }]
      : [];
  return (cel?.without.false ?? []).flatMap((member) => {
    const path = pathOf(member);
    if (!isOfModel(path)) return [];
    const isNull = member.while === 'null';
    const how = isNull ? `make ${member.key} null` : `leave out ${member.key}`;
    const closed = `${isNull ? `${member.key} == null` : `!has(${member.key})`} || …`;
    return [{ path, while: member.while, how, closed }];
  });
};

/** @param types the actions to forbid; null for all, which nobody wants to forbid whenever the member is missing */
const warningOf = (
  { rule, types: written }: Deciding,
  types: readonly string[] | null,
  pair: RuleCondition,
  { how, closed }: WayRound,
): RuleWarning => {
  const opposite = oppositeOf(pair);
  const named = types?.join(', ');
  const [allow, forbid] =
    named === undefined ? ['an ALLOW', 'a FORBID of these'] : [`an ALLOW ${named}`, `a FORBID ${named}`];
  const floor = `${allow} ${opposite === null ? 'with the opposite condition' : `with ${opposite}`} above ${forbid} without conditions`;
  const isNarrower = written.has('*');
  const first = !isNarrower
    ? `write ${closed}`
    : `${named === undefined ? 'name the actions that need it in place of *' : `write FORBID ${named}`}, with ${closed}`;
  return {
    drRuleId: rule.drRuleId,
    message: `A model may ${how}, and then the rule forbids nothing. If it should forbid then too, ${first}; or let ${floor} decide.`,
  };
};

/** How many conditions are compared with other rules. */
const COMPARED = 64;

/** A warning about each rule that forbids nothing if a model leaves out what the rule measures, and no other rule forbids it then. In slices. */
export function* leftOutWarnings(
  set: Pick<RulesetContent, 'rulesetRules' | 'actions'>,
): Sliced<readonly RuleWarning[]> {
  const deciding = decidingIn(set.rulesetRules);
  const warnings: RuleWarning[] = [];
  const notCompared = new Set<Deciding>();
  let compared = 0;
  for (const one of deciding.filter(({ kind }) => kind === 'forbid')) {
    for (const read of one.conditions)
      for (const way of waysRound(read)) {
        const declared = lackingActions(one.rule, set, way.path);
        if (declared?.lacking.length === 0) continue;
        if (compared === COMPARED) {
          notCompared.add(one);
          continue;
        }
        compared += 1;
        const types = declared?.lacking ?? [...one.types];
        yield deciding.length * types.length;
        if (isCovered(deciding, one, types, way)) continue;
        const remedied = one.types.has('*') ? (declared?.types ?? null) : [...one.types];
        warnings.push(warningOf(one, remedied, read.pair, way));
      }
  }
  if (notCompared.size === 0) return warnings;
  const message = `Only the first ${COMPARED} conditions on what a model may leave out were looked at. ${notCompared.size} ${notCompared.size === 1 ? 'rule has' : 'rules have'} more of them.`;
  return [...warnings, { drRuleId: '', message }];
}
