import type { Path } from '../path.js';
import { childrenOf, type CelNode, type CelRoot } from './tree.js';

/** Members that an expression names, as they are written. */
export type CelRead = { readonly root: CelRoot; readonly names: readonly string[]; readonly key: string };

/** The members that a node names; null for anything else. */
export const memberRead = (node: CelNode): Pick<CelRead, 'root' | 'names'> | null => {
  if (node.is === 'root') return { root: node.root, names: [] };
  if (node.is !== 'member') return null;
  const holder = memberRead(node.of);
  return holder === null ? null : { root: holder.root, names: [...holder.names, node.name] };
};

/** `'quest' in state` reads `state.quest`. */
const soughtMember = (node: CelNode): Pick<CelRead, 'root' | 'names'> | null =>
  node.is === 'operation' &&
  node.operator === 'in' &&
  node.right.is === 'root' &&
  node.left.is === 'literal' &&
  typeof node.left.value === 'string'
    ? { root: node.right.root, names: [node.left.value] }
    : null;

const placesOf = (node: CelNode): readonly Pick<CelRead, 'root' | 'names'>[] => {
  const place = memberRead(node) ?? soughtMember(node);
  return place === null ? childrenOf(node).flatMap(placesOf) : [place];
};

/** Everything that an expression reads, each path once. */
export const readsOf = (tree: CelNode): readonly CelRead[] => {
  const reads = placesOf(tree).map((place) => ({ ...place, key: [place.root, ...place.names].join('.') }));
  return [...new Map(reads.map((read) => [read.key, read])).values()];
};

/** What a condition with the same path would look at. */
export const pathOf = ({ root, names }: CelRead): Path =>
  root === 'player' ? { root: 'context', names: ['player', ...names] } : { root, names };
