import { isActionType, toActionType } from '../../action-type.js';
import { isProblem, shownText } from '../problem.js';
import { readPath } from '../path.js';
import type { Misuse } from './read-tree.js';
import { type CelNode, childrenOf, nodesOf, type Operator } from './tree.js';

type Literal = Extract<CelNode, { is: 'literal' }>;

const isActionTypePath = (node: CelNode): boolean =>
  node.is === 'member' && node.name === 'type' && node.of.is === 'root' && node.of.root === 'action';

const literalsIn = (node: CelNode): readonly Literal[] => {
  if (node.is === 'literal') return [node];
  return node.is === 'list' ? node.elements.flatMap(literalsIn) : [];
};

/** Members of anything that an expression reads. The element of a loop may be a text of the expression, but has no members then. */
const isRead = (node: CelNode): boolean => {
  if (node.is === 'root') return true;
  if (node.is !== 'member' && node.is !== 'index') return false;
  return node.of.is === 'element' ? node.is === 'member' : isRead(node.of);
};

const isText = (node: CelNode): boolean => node.is === 'literal' && typeof node.value === 'string';

/** What `action.type` may be compared with, so that no misspelt type goes unnoticed. */
const isComparable = (operator: Operator, other: CelNode): boolean => {
  if (isRead(other)) return true;
  return operator === 'in' ? other.is === 'list' && other.elements.every(isText) : isText(other);
};

/** The action itself at places where its type could be read under another name. */
const wholeActions = (node: CelNode): readonly CelNode[] => {
  if (node.is === 'root') return node.root === 'action' ? [node] : [];
  const isAction = (one: CelNode): boolean => one.is === 'root' && one.root === 'action';
  if (node.is === 'member' && isAction(node.of)) return [];
  const isSearched = node.is === 'operation' && node.operator === 'in';
  return childrenOf(node).flatMap((child) =>
    isSearched && child === node.right && isAction(child) ? [] : wholeActions(child),
  );
};

/** The types of the action at places where they are not compared with types. */
const misplacedTypes = (node: CelNode): readonly CelNode[] => {
  if (node.is === 'has') return [];
  if (isActionTypePath(node)) return [node];
  if (node.is !== 'operation') return childrenOf(node).flatMap(misplacedTypes);
  const { operator, left, right } = node;
  const isEquality = operator === '==' || operator === '!=';
  const isFirst = isActionTypePath(left) && (isEquality || operator === 'in') && isComparable(operator, right);
  const isSecond = isActionTypePath(right) && isEquality && isComparable(operator, left);
  return isFirst || isSecond ? [] : [left, right].flatMap(misplacedTypes);
};

const placeMisuse = (tree: CelNode): Misuse | null => {
  const [whole] = wholeActions(tree);
  if (whole !== undefined)
    return { message: 'action is read by its members, such as action.type.', at: whole.at, end: whole.at };
  const [first] = misplacedTypes(tree);
  const message = 'action.type is compared directly: action.type == "SELL", or action.type in ["SELL", "BUY"].';
  return first === undefined ? null : { message, at: first.at, end: first.at };
};

/** The literals with which `action.type` is compared. */
const comparedTypes = (node: CelNode): readonly Literal[] => {
  if (node.is !== 'operation' || !['==', '!=', 'in'].includes(node.operator)) return [];
  if (isActionTypePath(node.left)) return literalsIn(node.right);
  return isActionTypePath(node.right) ? literalsIn(node.left) : [];
};

const typeMisuse = (text: string, { value, at }: Literal): Misuse | null => {
  if (typeof value !== 'string' || isActionType(value)) return null;
  const message = `${shownText(value)} is not an action type. They consist of upper-case letters, digits and _.`;
  const [start, end] = [at + 1, at + 1 + value.length];
  const type = toActionType(value);
  // A text with escapes is longer where it is written.
  const isPlain = text.slice(start, end) === value;
  return isPlain && isActionType(type) ? { message, at: start, end, instead: type } : { message, at, end: at };
};

const memberMisuse = (node: CelNode): Misuse | null => {
  if (node.is !== 'member' || node.of.is !== 'root' || node.of.root !== 'action' || !/^\w+$/.test(node.name))
    return null;
  const read = readPath(`action.${node.name}`);
  if (!isProblem(read)) return null;
  const { at, name } = node;
  const instead = read.meant?.slice('action.'.length);
  return { message: read.message, at, end: at + name.length, ...(instead === undefined ? {} : { instead }) };
};

/** The action types that an expression compares `action.type` with. */
export const actionTypesIn = (tree: CelNode): readonly string[] =>
  nodesOf(tree)
    .flatMap(comparedTypes)
    .flatMap(({ value }) => (typeof value === 'string' ? [value] : []));

/** The first type or member of an action in an expression that no action has. */
export const actionMisuse = (text: string, tree: CelNode): Misuse | null => {
  for (const node of nodesOf(tree)) {
    const misuse =
      memberMisuse(node) ??
      comparedTypes(node)
        .map((one) => typeMisuse(text, one))
        .find((one) => one !== null);
    if (misuse) return misuse;
  }
  return placeMisuse(tree);
};
