import type { ASTNode } from 'cel-js-2';
import { isMisspelt } from '../../../../../kernel/base/alike.js';
import { shownText } from '../problem.js';
import { CEL_ROOTS, type CelNode, type FunctionName, FUNCTIONS, type LoopName, LOOPS } from './tree.js';

/** Something in an expression that cannot be used. `at`, `end`: where it is; `instead`: the text that belongs there. */
export type Misuse = { readonly message: string; readonly at: number; readonly end: number; readonly instead?: string };

/** What the syntax tree of the library is read into, and the first thing in it that cannot be used. */
type Reading = { readonly text: string; misuse: Misuse | null };

/** How functions take their values: behind a dot, as `x.size()`, or in brackets, as `size(x)`. */
const AS_METHOD: Readonly<Record<FunctionName, number | null>> = {
  size: 0,
  double: null,
  int: null,
  contains: 1,
  startsWith: 1,
  endsWith: 1,
  lowerAscii: 0,
};
const AS_FUNCTION: readonly string[] = ['size', 'double', 'int'];

/** What other languages call the functions. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  exist: 'exists',
  any: 'exists',
  some: 'exists',
  every: 'all',
  existsOne: 'exists_one',
  len: 'size',
  length: 'size',
  count: 'size',
  toLowerCase: 'lowerAscii',
  lower: 'lowerAscii',
  number: 'double',
  float: 'double',
  parseInt: 'int',
};
/** What other languages call the values. */
const OTHER_VALUES: Readonly<Record<string, string>> = {
  True: 'true',
  TRUE: 'true',
  False: 'false',
  FALSE: 'false',
  None: 'null',
  nil: 'null',
  NULL: 'null',
  undefined: 'null',
};
const CALLED: readonly string[] = [...FUNCTIONS, ...LOOPS, 'has'];

const NOTHING: CelNode = { is: 'literal', value: null, at: 0 };

const refuse = (reading: Reading, misuse: Misuse): CelNode => {
  reading.misuse ??= misuse;
  return NOTHING;
};

const includes = <One extends string>(names: readonly One[], name: string): name is One =>
  (names as readonly string[]).includes(name);

/** The misuse of a name that is not a function. */
const unknownFunction = (name: string): Omit<Misuse, 'at' | 'end'> => {
  if (name === 'matches')
    return { message: '"matches" cannot be used. A pattern for the observation belongs in ruleObsPattern.' };
  if (name === 'includes')
    return { message: '"includes" is not a function of CEL. Write x in list, or text.contains(x).' };
  const known = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : CALLED.find((one) => isMisspelt(name, one));
  const message = `${shownText(name)} is not a function of CEL.`;
  return known === undefined ? { message } : { message, instead: known };
};

/** The misuse of a name that is not a root. */
const unknownName = (name: string): Omit<Misuse, 'at' | 'end'> => {
  if (Object.hasOwn(OTHER_VALUES, name))
    return { message: `${shownText(name)} is not a value of CEL.`, instead: OTHER_VALUES[name] ?? '' };
  if (name === 'npcState') return { message: '"npcState" is not a root.', instead: 'state' };
  const root = CEL_ROOTS.find((known) => isMisspelt(name, known));
  return root === undefined
    ? {
        message: `${shownText(name)} is not a root. Write state.${name} for a member of the state.`,
        instead: `state.${name}`,
      }
    : { message: `${shownText(name)} resembles the root ${root}.`, instead: root };
};

/** Where a name begins and ends that follows a node, as in `x.name(`. */
const placeOf = (reading: Reading, name: string, from: number): { readonly at: number; readonly end: number } => {
  const at = Math.max(from, reading.text.indexOf(name, from));
  return { at, end: at + name.length };
};

/** The name of the element, inside of a loop. */
type Scope = { readonly element: string | null };

/** A call: behind a dot with a receiver, otherwise without. */
type Call = {
  readonly name: string;
  readonly receiver: ASTNode | null;
  readonly given: readonly ASTNode[];
  readonly node: ASTNode;
};

const loopOf = (reading: Reading, name: LoopName, list: ASTNode, given: readonly ASTNode[], scope: Scope): CelNode => {
  const [variable, body] = given;
  const place = placeOf(reading, name, list.end);
  if (given.length !== 2 || variable?.op !== 'id' || body === undefined)
    return refuse(reading, { message: `${name} takes a name and a condition, as in ${name}(x, x > 1).`, ...place });
  const element = variable.args;
  if (scope.element !== null)
    return refuse(reading, { message: 'exists, all, exists_one and filter cannot be in one another.', ...place });
  if (includes(CEL_ROOTS, element)) {
    const message = `${shownText(element)} is a root. Give the elements another name.`;
    return refuse(reading, { message, at: variable.start, end: variable.end });
  }
  return {
    is: 'loop',
    name,
    list: treeOf(reading, list, scope),
    body: treeOf(reading, body, { element }),
    at: place.at,
  };
};

const hasOf = (reading: Reading, { given, node }: Call, scope: Scope): CelNode => {
  const [member] = given;
  const of = given.length === 1 && member !== undefined ? treeOf(reading, member, scope) : NOTHING;
  return of.is === 'member'
    ? { is: 'has', of, at: node.start }
    : refuse(reading, { message: HAS, at: node.start, end: node.end });
};

const HAS = 'has takes a member, as in has(state.quest).';

const callOf = (reading: Reading, call: Call, scope: Scope): CelNode => {
  const { name, receiver, given, node } = call;
  if (name === 'has' && receiver === null) return hasOf(reading, call, scope);
  if (includes(LOOPS, name) && receiver !== null) return loopOf(reading, name, receiver, given, scope);
  const place = placeOf(reading, name, receiver?.end ?? node.start);
  if (name === 'has') return refuse(reading, { message: HAS, ...place });
  if (includes(LOOPS, name)) {
    const message = `${name} belongs behind a list, as in state.bag.${name}(x, x > 1).`;
    return refuse(reading, { message, ...place });
  }
  if (!includes(FUNCTIONS, name)) return refuse(reading, { ...unknownFunction(name), ...place });
  const isFunction = AS_FUNCTION.includes(name);
  const isRight = receiver === null ? isFunction && given.length === 1 : AS_METHOD[name] === given.length;
  if (!isRight) {
    const written = isFunction ? `${name}(x)` : `x.${name}(${AS_METHOD[name] === 0 ? '' : 'y'})`;
    return refuse(reading, { message: `${name} is written ${written}.`, ...place });
  }
  const values = receiver === null ? given : [receiver, ...given];
  return { is: 'call', name, given: values.map((one) => treeOf(reading, one, scope)), at: place.at };
};

/** `state.gate-key` is a difference. */
const hyphenated = (text: string, at: number, end: number): Misuse | null => {
  const before = /\.([A-Za-z_][\w-]*-)$/.exec(text.slice(0, at));
  if (before === null) return null;
  const name = JSON.stringify(`${before[1] ?? ''}${text.slice(at, end)}`);
  return { message: `A member with such a name is written [${name}].`, at: before.index, end, instead: `[${name}]` };
};

/** `state.mood == angry` */
const unquoted = (text: string, at: number, end: number): Misuse | null => {
  const name = text.slice(at, end);
  const isCompared = /[=!]=\s*$/.test(text.slice(0, at)) && !/^\s*[.[(]/.test(text.slice(end));
  return !isCompared || Object.hasOwn(OTHER_VALUES, name)
    ? null
    : { message: `${shownText(name)} is not a root. A text needs quotes.`, at, end, instead: JSON.stringify(name) };
};

const nameOf = (reading: Reading, name: string, { start: at, end }: ASTNode, { element }: Scope): CelNode => {
  if (name === element) return { is: 'element', at };
  if (includes(CEL_ROOTS, name)) return { is: 'root', root: name, at };
  const { text } = reading;
  return refuse(reading, hyphenated(text, at, end) ?? unquoted(text, at, end) ?? { ...unknownName(name), at, end });
};

/** A whole number has 64 bits. */
const MOST_WHOLE = 2n ** 63n - 1n;

type Literal = Extract<ASTNode, { op: 'value' }>['args'];

const literalOf = (reading: Reading, value: Literal, { start: at, end }: ASTNode): CelNode => {
  if (typeof value === 'bigint' && value > MOST_WHOLE)
    return refuse(reading, { message: 'The number is too large.', at, end });
  if (value === null || typeof value !== 'object') return { is: 'literal', value, at };
  const written = reading.text.slice(at, end);
  return value instanceof Uint8Array
    ? refuse(reading, { message: 'Bytes cannot be used.', at, end, instead: written.slice(1) })
    : refuse(reading, { message: 'Unsigned numbers cannot be used.', at, end, instead: written.slice(0, -1) });
};

/** Reads one node of the library's tree. What is not listed here is refused, so that nothing new becomes allowed with a version of the library. */
const treeOf = (reading: Reading, node: ASTNode, scope: Scope): CelNode => {
  if (reading.misuse !== null) return NOTHING;
  const at = node.start;
  const read = (one: ASTNode): CelNode => treeOf(reading, one, scope);
  switch (node.op) {
    case 'value':
      return literalOf(reading, node.args, node);
    case 'id':
      return nameOf(reading, node.args, node, scope);
    case '.': {
      const [of, name] = node.args;
      return { is: 'member', of: read(of), name, at: placeOf(reading, name, of.end).at };
    }
    case '[]': {
      const [holder, index] = node.args;
      const [of, by] = [read(holder), read(index)];
      return by.is === 'literal' && typeof by.value === 'string'
        ? { is: 'member', of, name: by.value, at: by.at }
        : { is: 'index', of, by, at: by.at };
    }
    case 'list':
      return { is: 'list', elements: node.args.map(read), at };
    case '!_':
    case '-_':
      return { is: node.op === '!_' ? 'not' : 'minus', of: read(node.args), at };
    case '&&':
    case '||':
      return { is: node.op === '&&' ? 'and' : 'or', left: read(node.args[0]), right: read(node.args[1]), at };
    case '?:': {
      const [condition, yes, no] = node.args;
      return { is: 'choice', condition: read(condition), yes: read(yes), no: read(no), at };
    }
    case 'call': {
      const [name, given] = node.args;
      return callOf(reading, { name, receiver: null, given, node }, scope);
    }
    case 'rcall': {
      const [name, receiver, given] = node.args;
      return callOf(reading, { name, receiver, given, node }, scope);
    }
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
    case 'in':
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return { is: 'operation', operator: node.op, left: read(node.args[0]), right: read(node.args[1]), at };
    case 'map':
      return refuse(reading, { message: 'Objects cannot be written. Compare their members.', at, end: node.end });
    default:
      return refuse(reading, { message: `${shownText(node.op)} cannot be used.`, at, end: node.end });
  }
};

/** Reads the syntax tree of an expression. */
export const readTree = (text: string, root: ASTNode): CelNode | Misuse => {
  const reading: Reading = { text, misuse: null };
  const tree = treeOf(reading, root, { element: null });
  return reading.misuse ?? tree;
};
