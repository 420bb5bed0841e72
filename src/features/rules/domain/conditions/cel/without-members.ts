import { type CelRead, memberRead, readsOf } from './reads.js';
import type { CelNode } from './tree.js';

/** A member without which an expression is true or false for certain, and not in error: while it is left out, or while it is null. */
export type MissingMember = CelRead & { readonly while: 'missing' | 'null' };

/** The members of which one is enough; `always` if the value needs none of them to be missing. */
type Without = readonly MissingMember[] | 'always';
/** Without which members a node is true, and without which it is false. */
type Settled = { readonly true: Without; readonly false: Without };

const UNSETTLED: Settled = { true: [], false: [] };

const member = (
  place: Pick<CelRead, 'root' | 'names'> | null,
  when: MissingMember['while'],
): readonly MissingMember[] =>
  place === null || place.names.length === 0
    ? []
    : [{ ...place, key: [place.root, ...place.names].join('.'), while: when }];

/** What is an object for certain, so that `in` looks for a name. */
const OBJECTS: readonly string[] = ['delta', 'after', 'action', 'action.payload'];

const soughtName = (left: CelNode, right: CelNode): readonly MissingMember[] => {
  const holder = memberRead(right);
  if (left.is !== 'literal' || typeof left.value !== 'string' || holder === null) return [];
  const { root, names } = holder;
  return OBJECTS.includes([root, ...names].join('.')) ? member({ root, names: [...names, left.value] }, 'missing') : [];
};

const isAmong = (all: readonly MissingMember[], one: MissingMember): boolean =>
  all.some((other) => other.key === one.key && other.while === one.while);

const either = (some: Without, others: Without): Without =>
  some === 'always' || others === 'always' ? 'always' : [...some, ...others.filter((one) => !isAmong(some, one))];

const both = (some: Without, others: Without): Without => {
  if (some === 'always') return others;
  if (others === 'always') return some;
  return some.filter((one) => isAmong(others, one));
};

const opposite = (of: Settled): Settled => ({ true: of.false, false: of.true });

const ofChoice = ({ condition, yes, no }: Extract<CelNode, { is: 'choice' }>): Settled => {
  const [when, one, other] = [settledBy(condition), settledBy(yes), settledBy(no)];
  const reads = readsOf(condition);
  /** Whether the condition is not in error without a member, because it reads nothing of it. */
  const isApart = ({ key }: MissingMember): boolean => reads.every((read) => !`${read.key}.`.startsWith(`${key}.`));
  const value = (is: 'true' | 'false'): Without => {
    const whichever = both(one[is], other[is]);
    const safe = whichever === 'always' ? whichever : whichever.filter(isApart);
    return [both(when.true, one[is]), both(when.false, other[is])].reduce(either, safe);
  };
  return { true: value('true'), false: value('false') };
};

const literalOf = (node: CelNode): unknown => (node.is === 'literal' ? node.value : undefined);

/** `x == null`, and `x == true` of another expression. */
const ofEquality = (left: CelNode, right: CelNode): Settled => {
  const [literal, of] = left.is === 'literal' ? [literalOf(left), right] : [literalOf(right), left];
  if (literal === null) return { true: member(memberRead(of), 'null'), false: [] };
  if (typeof literal !== 'boolean') return UNSETTLED;
  return literal ? settledBy(of) : opposite(settledBy(of));
};

const settledBy = (node: CelNode): Settled => {
  switch (node.is) {
    case 'literal':
      return { true: node.value === true ? 'always' : [], false: node.value === false ? 'always' : [] };
    case 'has':
      return { true: [], false: member(memberRead(node.of), 'missing') };
    case 'operation':
      if (node.operator === 'in') return { true: [], false: soughtName(node.left, node.right) };
      if (node.operator === '==') return ofEquality(node.left, node.right);
      return node.operator === '!=' ? opposite(ofEquality(node.left, node.right)) : UNSETTLED;
    case 'not':
      return opposite(settledBy(node.of));
    case 'and':
    case 'or': {
      const [left, right] = [settledBy(node.left), settledBy(node.right)];
      return node.is === 'and'
        ? { true: both(left.true, right.true), false: either(left.false, right.false) }
        : { true: either(left.true, right.true), false: both(left.false, right.false) };
    }
    case 'choice':
      return ofChoice(node);
    default:
      return UNSETTLED;
  }
};

/** The members without which an expression is false, and those without which it is true. It has few nodes. */
export const withoutMembers = (
  node: CelNode,
): { readonly true: readonly MissingMember[]; readonly false: readonly MissingMember[] } => {
  const settled = settledBy(node);
  const listed = (one: Without): readonly MissingMember[] => (one === 'always' ? [] : one);
  return { true: listed(settled.true), false: listed(settled.false) };
};
