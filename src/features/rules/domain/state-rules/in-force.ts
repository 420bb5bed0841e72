import { GAME_MEMBERS, namesOf, type StateRule } from './state-rule.js';

/** A state rule, ready to be found by the place of a member. */
export type RuleInForce = {
  readonly rule: StateRule;
  readonly names: readonly string[];
  readonly wildcards: number;
  /** Its place among all rules, the most specific first. */
  readonly rank: number;
};

/** The rules at and below one place, by the names of their paths. */
export type RuleNode = {
  /** The rule whose path ends here. */
  own: RuleInForce | null;
  /** Whether the path of a rule that lets a model write goes on from here. */
  hasModel: boolean;
  readonly named: Map<string, RuleNode>;
  any: RuleNode | null;
};

/** Rules are immutable, so their prepared form stays valid for their lifetime. */
const ready = new WeakMap<readonly StateRule[], RuleNode>();
const undeclared = GAME_MEMBERS.map((path): StateRule => ({ path, writer: 'game' }));

const newNode = (): RuleNode => ({ own: null, hasModel: false, named: new Map(), any: null });

const nodeBelow = (node: RuleNode, name: string): RuleNode => {
  if (name === '*') return (node.any ??= newNode());
  const known = node.named.get(name) ?? newNode();
  node.named.set(name, known);
  return known;
};

const place = (root: RuleNode, one: RuleInForce): void => {
  let node = root;
  for (const name of one.names) {
    node.hasModel ||= one.rule.writer === 'model';
    node = nodeBelow(node, name);
  }
  // A declared rule comes before the undeclared one of the same path.
  node.own ??= one;
};

/**
 * The node where the paths of the state rules of a set begin. The most specific rule has the longest path, then the fewest wildcards, then it is the
 * first.
 */
export const rulesInForce = (declared: readonly StateRule[]): RuleNode => {
  const known = ready.get(declared);
  if (known !== undefined) return known;
  const rules = [...declared, ...undeclared]
    .map((rule) => {
      const names = namesOf(rule);
      return { rule, names, wildcards: names.filter((name) => name === '*').length };
    })
    .sort((left, right) => right.names.length - left.names.length || left.wildcards - right.wildcards)
    .map((one, rank) => ({ ...one, rank }));
  const root = newNode();
  for (const one of rules) place(root, one);
  ready.set(declared, root);
  return root;
};

/** The nodes below some others that a name leads to. */
export const nodesBelow = (nodes: readonly RuleNode[], name: string): readonly RuleNode[] => {
  const below: RuleNode[] = [];
  for (const { named, any } of nodes) {
    const one = named.get(name);
    if (one !== undefined) below.push(one);
    if (any !== null) below.push(any);
  }
  return below;
};

/** The nodes from which a path leads on. */
export const openOf = (nodes: readonly RuleNode[]): readonly RuleNode[] =>
  nodes.filter(({ named, any }) => named.size > 0 || any !== null);

/** The most specific rule whose path ends at one of some nodes. */
export const decidingAt = (nodes: readonly RuleNode[]): RuleInForce | null => {
  let found: RuleInForce | null = null;
  for (const { own } of nodes) found = moreSpecific(found, own);
  return found;
};

/** The more specific one of two rules. */
export const moreSpecific = (one: RuleInForce | null, other: RuleInForce | null): RuleInForce | null => {
  if (one === null || other === null) return one ?? other;
  return other.rank < one.rank ? other : one;
};
