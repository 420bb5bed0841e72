import type { Json, JsonObject } from '../../../../kernel/base/json.js';
import { isSameJson } from '../../../../kernel/base/same-json.js';
import { isIndex } from '../key-tree.js';
import { decidingAt, nodesBelow, openOf, type RuleNode } from './in-force.js';
import { objection } from './objection.js';
import type { StateRule } from './state-rule.js';

/** How much a judgement may still look at: each member that a replaced value has or gets, once for each path that leads to it. */
export type Looks = { left: number };

/** A rule about something inside of a replaced value that does not allow what becomes of it. */
export type BrokenWithin = { readonly rule: StateRule; readonly reason: string };

const own = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;

const holds = (value: Json | undefined): value is JsonObject | readonly Json[] =>
  typeof value === 'object' && value !== null;

const firstRule = (nodes: readonly RuleNode[]): StateRule =>
  decidingAt(nodes)?.rule ??
  firstRule(nodes.flatMap(({ named, any }) => [...named.values(), ...(any === null ? [] : [any])]));

const keysOf = (value: Json | undefined): readonly string[] => (holds(value) ? Object.keys(value) : []);

/** The names that two values have, each once. */
const namesOfBoth = (before: Json | undefined, after: Json | undefined): readonly string[] => {
  const [had, gets] = [keysOf(before), keysOf(after)];
  return had.length === 0 || gets.length === 0 ? [...had, ...gets] : [...new Set([...had, ...gets])];
};

/** The names that may lead on from some nodes: those of the paths or those of the values, whichever are fewer. */
const namesToFollow = (nodes: readonly RuleNode[], names: readonly string[]): readonly string[] => {
  if (nodes.some(({ any }) => any !== null)) return names;
  const [only] = nodes;
  if (nodes.length === 1 && only !== undefined && only.named.size < names.length) return [...only.named.keys()];
  return names.filter((name) => nodes.some(({ named }) => named.has(name)));
};

/** That there is no more to look with. @param nodes some of which lead on */
export const tooMany = (nodes: readonly RuleNode[]): BrokenWithin => ({
  rule: firstRule(nodes),
  reason: 'It replaces too many members to check.',
});

/** What becomes of a member at the ends of some paths, and of what is in it. */
const at = (
  looks: Looks,
  nodes: readonly RuleNode[],
  before: Json | undefined,
  after: Json | undefined,
): BrokenWithin | null => {
  if (before === after || nodes.length === 0) return null;
  const decides = decidingAt(nodes);
  if (decides !== null && !isSameJson(before, after)) {
    const reason = objection(decides.rule, before, after);
    if (reason !== null) return { rule: decides.rule, reason: `It holds ${decides.rule.path}: ${reason}` };
  }
  return brokenWithin(looks, nodes, before, after);
};

/**
 * The first rule that does not allow what becomes of a replaced value, or of something in it. Like a condition, a path goes through the elements of a
 * list; otherwise a list around a member would hide it from its rule, but not from the conditions that read it. All paths are followed together, so that
 * many rules cost little more than one.
 * @param nodes what the paths of the rules have left at the value
 */
export const brokenWithin = (
  looks: Looks,
  nodes: readonly RuleNode[],
  before: Json | undefined,
  after: Json | undefined,
): BrokenWithin | null => {
  if (!holds(before) && !holds(after)) return null;
  const open = openOf(nodes);
  if (open.length === 0) return null;
  const names = namesOfBoth(before, after);
  const affords = (): boolean => {
    looks.left -= open.length;
    return looks.left >= 0;
  };
  for (const name of namesToFollow(open, names)) {
    if (!affords()) return tooMany(open);
    const found = at(looks, nodesBelow(open, name), own(before, name), own(after, name));
    if (found !== null) return found;
  }
  // A condition picks an element of a list by its index, and in the same way a member of an object that is named like one.
  for (const name of names) {
    if (!isIndex(name)) continue;
    if (!affords()) return tooMany(open);
    const [was, becomes] = [own(before, name), own(after, name)];
    const found = was === becomes ? null : brokenWithin(looks, open, was, becomes);
    if (found !== null) return found;
  }
  return null;
};
