import type { Alternative } from './conditions/alternatives.js';
import { isProblem } from './conditions/problem.js';
import { isCel, readCondition } from './conditions/read-condition.js';
import type { RuleCondition } from './ruleset.js';

/** Members of an action that are never lists. */
const SINGLE: readonly string[] = ['type', 'target', 'reason', 'confidence'];

/** Whether one element of a list is enough to satisfy it, whatever the others are. */
const needsOne = ({ is }: Alternative): boolean => !['present', 'absent', 'none', 'all', 'count'].includes(is);

/**
 * A warning about a condition of a rule that allows what a model writes: a model may write a list in place of the value, and one of its elements
 * satisfies the condition. Null if it is not enough, or if the condition cannot be read.
 */
export const oneElementWarning = ([key, value]: RuleCondition): string | null => {
  const read = readCondition([key, value]);
  if (isProblem(read) || isCel(read) || !read.alternatives.every(needsOne)) return null;
  const { root, names, letter } = read.path;
  const isWritten = root === 'delta' || (root === 'action' && !SINGLE.includes(names[0] ?? ''));
  if (!isWritten || letter !== undefined) return null;
  const isPlain = read.alternatives.every(({ is }) => is !== 'any' && is !== 'other');
  return `A model can write a list at ${key}, and one element that satisfies ${value} is enough for the rule to allow the action.${isPlain ? ` If every element must satisfy it, write all(${value.trim()}).` : ''}`;
};
