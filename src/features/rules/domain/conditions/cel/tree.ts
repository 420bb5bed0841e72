import type { Json } from '../../../../../kernel/base/json.js';

/** What an expression can read by name. */
export const CEL_ROOTS = ['state', 'context', 'facts', 'player', 'action', 'delta', 'after', 'observation'] as const;
export type CelRoot = (typeof CEL_ROOTS)[number];

/** What compares, calculates or searches. */
export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%';

/** What an expression can call. */
export const FUNCTIONS = ['size', 'double', 'int', 'contains', 'startsWith', 'endsWith', 'lowerAscii'] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

/** What is done with each element of a list. */
export const LOOPS = ['exists', 'all', 'exists_one', 'filter'] as const;
export type LoopName = (typeof LOOPS)[number];

/** A whole number of an expression is a bigint, one of JSON a double. */
export type CelValue = Json | bigint | CelList;
export type CelList = readonly CelValue[];

/** Whether a value is a list. */
export const isList = (value: CelValue): value is CelList => Array.isArray(value);

export type MemberNode = { readonly is: 'member'; readonly of: CelNode; readonly name: string; readonly at: number };

/** One node of an expression. `at`: where it is in the text, in UTF-16 units. */
export type CelNode =
  | { readonly is: 'literal'; readonly value: string | number | bigint | boolean | null; readonly at: number }
  | { readonly is: 'root'; readonly root: CelRoot; readonly at: number }
  /** The element that a loop is at. */
  | { readonly is: 'element'; readonly at: number }
  | MemberNode
  | { readonly is: 'index'; readonly of: CelNode; readonly by: CelNode; readonly at: number }
  | { readonly is: 'list'; readonly elements: readonly CelNode[]; readonly at: number }
  | { readonly is: 'not' | 'minus'; readonly of: CelNode; readonly at: number }
  | { readonly is: 'and' | 'or'; readonly left: CelNode; readonly right: CelNode; readonly at: number }
  | {
      readonly is: 'operation';
      readonly operator: Operator;
      readonly left: CelNode;
      readonly right: CelNode;
      readonly at: number;
    }
  | {
      readonly is: 'choice';
      readonly condition: CelNode;
      readonly yes: CelNode;
      readonly no: CelNode;
      readonly at: number;
    }
  | { readonly is: 'has'; readonly of: MemberNode; readonly at: number }
  | { readonly is: 'call'; readonly name: FunctionName; readonly given: readonly CelNode[]; readonly at: number }
  | {
      readonly is: 'loop';
      readonly name: LoopName;
      readonly list: CelNode;
      readonly body: CelNode;
      readonly at: number;
    };

/** The nodes directly below a node. */
export const childrenOf = (node: CelNode): readonly CelNode[] => {
  switch (node.is) {
    case 'literal':
    case 'root':
    case 'element':
      return [];
    case 'member':
    case 'not':
    case 'minus':
    case 'has':
      return [node.of];
    case 'index':
      return [node.of, node.by];
    case 'list':
      return node.elements;
    case 'and':
    case 'or':
    case 'operation':
      return [node.left, node.right];
    case 'choice':
      return [node.condition, node.yes, node.no];
    case 'call':
      return node.given;
    case 'loop':
      return [node.list, node.body];
  }
};

/** A node and all nodes below it, from left to right. */
export const nodesOf = (node: CelNode): readonly CelNode[] => [node, ...childrenOf(node).flatMap(nodesOf)];

/** Chains that count as one level, because they are read without brackets. */
const isChained = (node: CelNode, child: CelNode): boolean => {
  if (node.is === 'and' || node.is === 'or') return child.is === node.is;
  if (node.is === 'operation') return child.is === 'operation' && child.operator === node.operator;
  const isPlace = (one: CelNode): boolean => one.is === 'member' || one.is === 'index';
  return isPlace(node) && isPlace(child) && (node.is !== 'index' || child !== node.by);
};

/** How many levels a node has. */
export const depthOf = (node: CelNode): number =>
  childrenOf(node).reduce(
    (deepest, child) => Math.max(deepest, depthOf(child) + (isChained(node, child) ? 0 : 1)),
    node.is === 'literal' || node.is === 'root' || node.is === 'element' ? 0 : 1,
  );
