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

export type RulesInForce = { readonly rules: readonly RuleInForce[]; readonly root: RuleNode };

/** Rules are immutable, so their prepared form stays valid for their lifetime. */
const ready = new WeakMap<readonly StateRule[], RulesInForce>();
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

/** The state rules of a set, the most specific first: the longest path, then the one with the fewest wildcards, then the first. */
export const rulesInForce = (declared: readonly StateRule[]): RulesInForce => {
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
  const inForce = { rules, root };
  ready.set(declared, inForce);
  return inForce;
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

const matches = (pattern: string, name: string | undefined): boolean =>
  name !== undefined && (pattern === '*' || pattern === name);

/** The rule that decides about a member: the most specific one whose path leads to it or to something around it. */
export const ruleFor = ({ rules }: RulesInForce, at: readonly string[]): RuleInForce | undefined =>
  rules.find(({ names }) => names.length <= at.length && names.every((name, index) => matches(name, at[index])));
