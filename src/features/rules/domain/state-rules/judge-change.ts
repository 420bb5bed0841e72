import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import { isSameJson } from '../../../../kernel/base/same-json.js';
import { brokenWithin, type Looks, tooMany } from './broken-within.js';
import { isIndex } from '../key-tree.js';
import {
  decidingAt,
  moreSpecific,
  nodesBelow,
  openOf,
  type RuleInForce,
  type RuleNode,
  rulesInForce,
} from './in-force.js';
import { nearest, objection } from './objection.js';
import type { OnBreak, StateRule } from './state-rule.js';

/** A change that a state rule does not allow. `instead`: the value that a clamped change gets. */
export type ChangeBreak = {
  readonly path: string;
  readonly onBreak: OnBreak;
  readonly reason: string;
  readonly instead?: number;
};

/** The part of a change that the rules allow, and what they do not allow. */
export type JudgedChange = { readonly patch: JsonObject; readonly breaks: readonly ChangeBreak[] };

/** How much of replaced values is looked at (Looks); a change that replaces more is not allowed. Some 5 ms at worst. */
const LOOKED_AT = 10_000;

type Judging = { readonly breaks: ChangeBreak[]; readonly looks: Looks };

/** What the paths of the rules have left at a member, and the most specific rule about it or something around it. */
type Led = { readonly nodes: readonly RuleNode[]; readonly decides: RuleInForce | null; readonly isOwn: boolean };

/** Where a member is: its names, and where the paths of the rules lead there. */
type Place = {
  readonly names: readonly string[];
  /** By each of its names. */
  readonly named: Led;
  /** By its names without some indexes, as a path leads into the elements of a list. */
  readonly listed: Led;
};

const ledTo = ({ decides: around }: Led, nodes: readonly RuleNode[]): Led => {
  const decides = moreSpecific(around, decidingAt(nodes));
  return { nodes, decides, isOwn: decides !== around };
};

/** The places of the members below a place. */
const placesBelow = ({ names, named, listed }: Place): ((name: string) => Place) => {
  let inElements: readonly RuleNode[] | null = null;
  return (name) => {
    const inMember = ledTo(listed, nodesBelow(listed.nodes, name));
    const place = { names: [...names, name], named: ledTo(named, nodesBelow(named.nodes, name)), listed: inMember };
    // The state itself is no list, so its first names are no indexes.
    if (names.length === 0 || !isIndex(name)) return place;
    inElements ??= openOf([...new Set([...named.nodes, ...listed.nodes])]);
    const nodes = inMember.nodes.length === 0 ? inElements : [...new Set([...inMember.nodes, ...inElements])];
    return { ...place, listed: { ...inMember, nodes } };
  };
};

/** Notes what is not allowed. A rule that clamps leaves out what it cannot clamp. */
const leaveOut = (
  judging: Judging,
  { names }: Pick<Place, 'names'>,
  { onBreak = 'leave_out' }: StateRule,
  reason: string,
): void => {
  judging.breaks.push({ path: names.join('.'), onBreak: onBreak === 'clamp' ? 'leave_out' : onBreak, reason });
};

/** What becomes of a value that the rule of its member does not allow: the nearest number if the rule clamps, otherwise nothing. */
const clamped = (
  judging: Judging,
  at: Place,
  rule: StateRule,
  { before, after, reason }: { readonly before: Json | undefined; readonly after: Json | undefined; reason: string },
): Json | undefined => {
  const isClamped = rule.onBreak === 'clamp' && rule.writer === 'model' && after !== undefined;
  const instead = isClamped ? nearest(rule, before, after) : null;
  if (instead === null) {
    leaveOut(judging, at, rule, reason);
    return undefined;
  }
  judging.breaks.push({ path: at.names.join('.'), onBreak: 'clamp', reason, instead });
  return instead === before ? undefined : instead;
};

/**
 * What of a new object the rules allow, judged member by member.
 * @returns undefined if it has members and none of them is allowed
 */
const judgeNew = (judging: Judging, at: Place, wanted: JsonObject): JsonObject | undefined => {
  const breaks = judging.breaks.length;
  const members = judgeMembers(judging, at, {}, wanted);
  return Object.keys(members).length === 0 && judging.breaks.length > breaks ? undefined : members;
};

/** Why the rule that leads to a member does not allow its change. A rule about something around the member only says who writes it. */
const objectionOf = ({ decides, isOwn }: Led, before: Json | undefined, after: Json | undefined): string | null =>
  decides !== null && (isOwn || decides.rule.writer === 'game') ? objection(decides.rule, before, after) : null;

/** What of one member's change is allowed, as a member of the patch; undefined if nothing is. */
const judgeMember = (judging: Judging, at: Place, before: Json | undefined, wanted: Json): Json | undefined => {
  const isMerged = isObject(wanted);
  if (isMerged && isObject(before)) {
    const patch = judgeMembers(judging, at, before, wanted);
    return Object.keys(patch).length === 0 ? undefined : patch;
  }
  const after = wanted === null ? undefined : wanted;
  if (isSameJson(before, after)) return undefined;
  const { decides } = at.named;
  if (decides !== null) {
    const { rule } = decides;
    // Where a longer path lets a model write, a missing object comes with what the model may write in it, and never without.
    const isAround = rule.writer === 'game' && at.named.nodes.some(({ hasModel }) => hasModel);
    if (isMerged && (before ?? null) === null && isAround) {
      const members = judgeNew(judging, at, wanted);
      if (members === undefined || Object.keys(members).length > 0) return members;
    }
    const reason = objectionOf(at.named, before, after);
    if (reason !== null) return clamped(judging, at, rule, { before, after, reason });
  }
  // Like an element of a list, what is named like one is refused and not clamped.
  const asElement = objectionOf(at.listed, before, after);
  if (asElement !== null && at.listed.decides !== null) {
    leaveOut(judging, at, at.listed.decides.rule, asElement);
    return undefined;
  }
  // A new object is judged member by member; what it replaces, and what an array holds, as a whole.
  const within = brokenWithin(
    judging.looks,
    [...at.named.nodes, ...at.listed.nodes],
    before,
    isMerged ? undefined : after,
  );
  if (within !== null) {
    leaveOut(judging, at, within.rule, within.reason);
    return undefined;
  }
  return isMerged ? judgeNew(judging, at, wanted) : wanted;
};

const judgeMembers = (judging: Judging, at: Place, before: JsonObject, patch: JsonObject): JsonObject => {
  const { looks } = judging;
  const below = placesBelow(at);
  const { nodes } = at.listed;
  const allowed = Object.entries(patch).flatMap(([name, wanted]): readonly (readonly [string, Json])[] => {
    looks.left -= nodes.length;
    if (nodes.length > 0 && looks.left < 0) {
      const { rule, reason } = tooMany(nodes);
      leaveOut(judging, { names: [...at.names, name] }, rule, reason);
      return [];
    }
    const member = judgeMember(judging, below(name), Object.hasOwn(before, name) ? before[name] : undefined, wanted);
    return member === undefined ? [] : [[name, member]];
  });
  return Object.fromEntries(allowed);
};

/**
 * Judges a state change by its effect: a member that keeps its value is no change, and a member that is replaced, removed or overwritten together
 * with what is around it is one. What the rules do not allow is left out, unless its rule clamps it; the caller refuses the verdict if a break says so.
 * @param data the state before the change
 * @param change a merge patch (RFC 7396) of bounded size and depth
 */
export const judgeChange = (rules: readonly StateRule[], data: JsonObject, change: JsonObject): JudgedChange => {
  const judging: Judging = { breaks: [], looks: { left: LOOKED_AT } };
  const named: Led = { nodes: [rulesInForce(rules)], decides: null, isOwn: false };
  const state: Place = { names: [], named, listed: { nodes: [], decides: null, isOwn: false } };
  const patch = judgeMembers(judging, state, data, change);
  return { patch, breaks: judging.breaks };
};
