import { isProblem } from './conditions/problem.js';
import type { Path } from './conditions/path.js';
import { isCel, readCondition } from './conditions/read-condition.js';
import type { RuleCondition } from './ruleset.js';
import { pathsReadBy } from './state-rules/undeclared-reads.js';

/** Members of an action that a model writes, but that no value of theirs makes undecidable for the conditions that read them. */
const PLAIN_MEMBERS: readonly string[] = ['type', 'target'];

const isWritten = ({ root, names }: Path, isDeclared: (names: readonly string[]) => boolean): boolean => {
  if (root === 'delta') return true;
  if (root === 'action') return !PLAIN_MEMBERS.includes(names[0] ?? '');
  return (root === 'state' || root === 'after') && names.length > 0 && !isDeclared(names);
};

/**
 * A warning about the conditions of a rule that requires an action: it requires nothing while one of them is in error, so a model that writes what they
 * read can get rid of it. Null if no condition reads such a thing.
 * @param isDeclared whether a state rule says who writes a member of the state
 */
export const requireWarning = (
  conditions: readonly RuleCondition[],
  isDeclared: (names: readonly string[]) => boolean,
): string | null => {
  const written = conditions.flatMap((pair) => {
    const read = readCondition(pair);
    if (isProblem(read)) return [];
    const paths = pathsReadBy(read).filter((path) => isWritten(path, isDeclared));
    return paths.map(({ root, names }) => (isCel(read) ? [root, ...names].join('.') : pair[0]));
  });
  const [first] = written;
  if (first === undefined) return null;
  const more = written.length === 1 ? '' : ` (and ${written.length - 1} more)`;
  return `The rule reads ${first}${more}, which a model can write, and requires nothing if that does not fit or cannot be compared. Read what the game writes instead (facts, or state with a rule in ruleState), or forbid the other actions.`;
};
