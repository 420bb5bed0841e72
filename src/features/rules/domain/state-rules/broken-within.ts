import type { Json, JsonObject } from '../../../../kernel/base/json.js';
import { isSameJson } from '../../../../kernel/base/same-json.js';
import { nodesBelow, type RuleInForce, type RuleNode } from './in-force.js';
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

const elementsOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];

/** The most specific rule whose path ends at one of some nodes. */
const decidingAt = (nodes: readonly RuleNode[]): RuleInForce | null => {
  let found: RuleInForce | null = null;
  for (const { own: one } of nodes) if (one !== null && (found === null || one.rank < found.rank)) found = one;
  return found;
};

const firstRule = (nodes: readonly RuleNode[]): StateRule =>
  decidingAt(nodes)?.rule ??
  firstRule(nodes.flatMap(({ named, any }) => [...named.values(), ...(any === null ? [] : [any])]));

const keysOf = (value: Json | undefined): readonly string[] => (holds(value) ? Object.keys(value) : []);

/** The names that two values have, each once. */
const namesOfBoth = (before: Json | undefined, after: Json | undefined): readonly string[] => {
  const [had, gets] = [keysOf(before), keysOf(after)];
  return had.length === 0 || gets.length === 0 ? [...had, ...gets] : [...new Set([...had, ...gets])];
};

/** The names that may lead on from some nodes in one of two values: those of the paths or those of the values, whichever are fewer. */
const namesToFollow = (
  nodes: readonly RuleNode[],
  before: Json | undefined,
  after: Json | undefined,
): readonly string[] => {
  const names = namesOfBoth(before, after);
  if (nodes.some(({ any }) => any !== null)) return names;
  const [only] = nodes;
  if (nodes.length === 1 && only !== undefined && only.named.size < names.length) return [...only.named.keys()];
  return names.filter((name) => nodes.some(({ named }) => named.has(name)));
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
): BrokenWithin | null => below(looks, nodes, before, after);

const tooMany = (nodes: readonly RuleNode[]): BrokenWithin => ({
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
  return below(looks, nodes, before, after);
};

const below = (
  looks: Looks,
  nodes: readonly RuleNode[],
  before: Json | undefined,
  after: Json | undefined,
): BrokenWithin | null => {
  if (!holds(before) && !holds(after)) return null;
  const isOpen = nodes.filter(({ named, any }) => named.size > 0 || any !== null);
  if (isOpen.length === 0) return null;
  for (const name of namesToFollow(isOpen, before, after)) {
    looks.left -= isOpen.length;
    if (looks.left < 0) return tooMany(isOpen);
    const found = at(looks, nodesBelow(isOpen, name), own(before, name), own(after, name));
    if (found !== null) return found;
  }
  const [was, becomes] = [elementsOf(before), elementsOf(after)];
  for (let index = 0; index < Math.max(was.length, becomes.length); index += 1) {
    looks.left -= isOpen.length;
    if (looks.left < 0) return tooMany(isOpen);
    const found = was[index] === becomes[index] ? null : below(looks, isOpen, was[index], becomes[index]);
    if (found !== null) return found;
  }
  return null;
};
