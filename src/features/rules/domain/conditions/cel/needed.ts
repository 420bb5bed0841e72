import { type CelRead, memberRead } from './reads.js';
import type { CelNode } from './tree.js';

/** A member without which an expression is false, and not in error: while it is left out, or while it is null. */
export type NeededMember = CelRead & { readonly isFalseFor: 'nothing' | 'null' };

const member = (
  place: Pick<CelRead, 'root' | 'names'> | null,
  isFalseFor: 'nothing' | 'null',
): readonly NeededMember[] =>
  place === null || place.names.length === 0
    ? []
    : [{ ...place, key: [place.root, ...place.names].join('.'), isFalseFor }];

/** What is an object for certain, so that `in` looks for a name. */
const OBJECTS: readonly string[] = ['delta', 'after', 'action', 'action.payload'];

const soughtName = (left: CelNode, right: CelNode): readonly NeededMember[] => {
  const holder = memberRead(right);
  if (left.is !== 'literal' || typeof left.value !== 'string' || holder === null) return [];
  const { root, names } = holder;
  return OBJECTS.includes([root, ...names].join('.')) ? member({ root, names: [...names, left.value] }, 'nothing') : [];
};

const isNull = (node: CelNode): boolean => node.is === 'literal' && node.value === null;
const isFalse = (node: CelNode): boolean => node.is === 'literal' && node.value === false;

const inBoth = (some: readonly NeededMember[], others: readonly NeededMember[]): readonly NeededMember[] =>
  some.filter((one) => others.some(({ key, isFalseFor }) => key === one.key && isFalseFor === one.isFalseFor));

/** The members without which an expression is false. It has few nodes. */
export const neededMembers = (node: CelNode): readonly NeededMember[] => {
  switch (node.is) {
    case 'has':
      return member(memberRead(node.of), 'nothing');
    case 'operation':
      if (node.operator === 'in') return soughtName(node.left, node.right);
      if (node.operator !== '!=') return [];
      if (isNull(node.right)) return member(memberRead(node.left), 'null');
      return isNull(node.left) ? member(memberRead(node.right), 'null') : [];
    case 'and':
      return [...neededMembers(node.left), ...neededMembers(node.right)];
    case 'or':
      return inBoth(neededMembers(node.left), neededMembers(node.right));
    case 'choice': {
      const without = [...neededMembers(node.condition), ...neededMembers(node.yes)];
      return isFalse(node.no) ? without : inBoth(without, neededMembers(node.no));
    }
    default:
      return [];
  }
};
