import { isProblem, type Problem, problem, shownText } from '../problem.js';
import { actionMisuse, actionTypesIn } from './action-names.js';
import { compile, type Runner } from './compile.js';
import { failureMessage } from './failures.js';
import { parseCel } from './parse.js';
import { type Misuse, readTree } from './read-tree.js';
import { type CelRead, readsOf } from './reads.js';
import { findSlips } from './slips.js';
import { type CelNode, type CelRoot, depthOf, type FunctionName, nodesOf } from './tree.js';
import { withoutMembers } from './without-members.js';

/** An expression that is ready to run. */
export type CelExpression = {
  readonly text: string;
  readonly run: Runner;
  readonly reads: readonly CelRead[];
  /** The members without which it is true, and those without which it is false. */
  readonly without: ReturnType<typeof withoutMembers>;
  /** The action types that it compares `action.type` with. */
  readonly actionTypes: readonly string[];
  /** Whether it names what there is only with the verdict. */
  readonly needsVerdict: boolean;
  /** How many steps it may take, which is what it counts for in its set (RULESET_BOUNDS.celSteps). */
  readonly steps: number;
};

/** The limits of one expression. */
const [BYTES, NODES, LEVELS] = [1_000, 100, 12];
/** The steps of an expression; and those for each node inside of a loop, once for each element of the longest list. */
const [STEPS, LOOP_STEPS] = [1_000, 1_000];
/** The functions that may go through the longest observation, and the steps for each of them. */
const SEARCHES: readonly FunctionName[] = ['contains', 'lowerAscii'];
const SEARCH_STEPS = 1_000;

/** How many corrections a suggestion may consist of, and how long the text may be, in UTF-16 units. A longer suggestion would not be shown. */
const [CORRECTIONS, MENDED_CHARS] = [8, 256];

/** What an attempt to read a text found: what is wrong with it, where, and the text without that. */
type Attempt = { readonly message: string; readonly at: number; readonly mended?: string };

const NEEDS_VERDICT: readonly CelRoot[] = ['action', 'delta', 'after'];

const placed = (text: string, { message, at, end, instead }: Misuse): Attempt => ({
  message,
  at,
  ...(instead === undefined ? {} : { mended: text.slice(0, at) + instead + text.slice(end) }),
});

const tooLarge = (tree: CelNode): Attempt | null => {
  const nodes = nodesOf(tree);
  const beyond = nodes[NODES];
  if (beyond !== undefined)
    return { message: `The expression has ${nodes.length} nodes, but may have ${NODES}.`, at: beyond.at };
  const levels = depthOf(tree);
  return levels <= LEVELS
    ? null
    : { message: `The expression has ${levels} levels, but may have ${LEVELS}.`, at: tree.at };
};

const isPlace = (node: CelNode): boolean =>
  node.is === 'member' || node.is === 'index' || node.is === 'element' || node.is === 'root';

const notBoolean = (text: string, tree: CelNode): Attempt => ({
  message: 'The expression must be true or false, but its result may be anything else.',
  at: 0,
  ...(isPlace(tree) && tree.is !== 'root' ? { mended: `${text.trim()} == true` } : {}),
});

const stepsFor = (node: CelNode): number => {
  if (node.is === 'loop') return LOOP_STEPS * nodesOf(node.body).length;
  return node.is === 'call' && SEARCHES.includes(node.name) ? SEARCH_STEPS : 0;
};

const stepsOf = (tree: CelNode): number => nodesOf(tree).reduce((steps, node) => steps + stepsFor(node), STEPS);

const foreign = (text: string): Attempt | null => {
  const slips = findSlips(text);
  if (slips === null) return null;
  const { first, mended } = slips;
  const message = /^not\s/i.test(first.written)
    ? '"not in" is not an operator of CEL. Write !(x in list).'
    : /^[“„‘‚]/.test(first.written)
      ? 'A text needs straight quotes.'
      : `${shownText(first.written)} is not an operator of CEL.`;
  return { message, at: first.at, ...(mended === null ? {} : { mended }) };
};

const attempt = (text: string): CelExpression | Attempt => {
  if (text.trim() === '') return { message: 'The expression is empty.', at: 0 };
  const parsed = parseCel(text);
  if ('failed' in parsed) return foreign(text) ?? { message: failureMessage(parsed, text), at: parsed.at };
  const tree = readTree(text, parsed.root);
  if ('message' in tree) return placed(text, tree);
  const large = tooLarge(tree);
  if (large !== null) return large;
  const types = parsed.types();
  if (typeof types === 'object') return { message: failureMessage(types, text), at: types.at };
  if (types === 'other') return notBoolean(text, tree);
  const misuse = actionMisuse(text, tree);
  if (misuse !== null) return placed(text, misuse);
  const reads = readsOf(tree);
  const actionTypes = actionTypesIn(tree);
  const needsVerdict = nodesOf(tree).some((node) => node.is === 'root' && NEEDS_VERDICT.includes(node.root));
  const without = withoutMembers(tree);
  return { text, run: compile(tree), reads, without, actionTypes, needsVerdict, steps: stepsOf(tree) };
};

/** Which character is at a place in a text, counted from 1. */
export const characterAt = (text: string, at: number): number => [...text.slice(0, at)].length + 1;

/** The text with everything corrected that can be; undefined if it still cannot be read. */
const mend = (first: string): string | undefined => {
  let text = first;
  for (let corrections = 1; corrections <= CORRECTIONS && text.length <= MENDED_CHARS; corrections += 1) {
    const found = attempt(text);
    if ('run' in found) return text;
    if (found.mended === undefined) return undefined;
    text = found.mended;
  }
  return undefined;
};

/** Reads an expression. */
export const readCel = (text: string): CelExpression | Problem => {
  const bytes = Buffer.byteLength(text);
  if (bytes > BYTES) return problem(`The expression has ${bytes} bytes, but may have ${BYTES}.`);
  const found = attempt(text);
  if ('run' in found) return found;
  const { message, at, mended } = found;
  return problem(`Character ${characterAt(text, at)}: ${message}`, mended === undefined ? undefined : mend(mended));
};

/** The keys of all members that an expression names, as a decision records their values. */
export const keysRead = (text: string): readonly string[] => {
  const read = readCel(text);
  return isProblem(read) ? [] : read.reads.map(({ key }) => key);
};
