import type { JsonObject } from '../../../../../kernel/base/json.js';
import { memberOf } from '../reach.js';
import { calculated, double, isShort, wholeNumber } from './calculate.js';
import { called } from './call.js';
import { areEqual, areOrdered, isIn } from './compare.js';
import { fail, type Result, type CelRun } from './run.js';
import { type CelList, type CelNode, type CelValue, isList, type LoopName, type Operator } from './tree.js';

/** A node that is ready to run. It takes a step. */
export type Runner = (run: CelRun) => Result;

const isObject = (value: CelValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !isList(value);

const member = (run: CelRun, holder: CelValue, name: string, at: number): Result => {
  if (!isObject(holder)) return fail(run, 'notObject', at);
  const value = memberOf(holder, name);
  return value === undefined ? fail(run, 'missing', at) : value;
};

/** Reads one member. Only names that every object inherits need to be looked up as own ones, which takes several times as long. */
const memberRunner = (of: Runner, name: string, at: number): Runner => {
  if (name in Object.prototype) return after(of, (run, holder) => member(run, holder, name, at));
  return after(of, (run, holder) => {
    if (!isObject(holder)) return fail(run, 'notObject', at);
    const value = holder[name];
    return value === undefined ? fail(run, 'missing', at) : value;
  });
};

const element = (run: CelRun, list: CelList, index: CelValue, at: number): Result => {
  if (typeof index !== 'bigint' && typeof index !== 'number') return fail(run, 'types', at);
  if (!isShort(run, list, at)) return undefined;
  const value = list[Number(index)];
  return value === undefined ? fail(run, 'noElement', at) : value;
};

const indexed = (run: CelRun, holder: CelValue, index: CelValue, at: number): Result => {
  if (isList(holder)) return element(run, holder, index, at);
  return typeof index === 'string' ? member(run, holder, index, at) : fail(run, 'types', at);
};

const operated = (run: CelRun, operator: Operator, left: CelValue, right: CelValue, at: number): Result => {
  switch (operator) {
    case '==':
      return areEqual(run, left, right, at);
    case '!=': {
      const equal = areEqual(run, left, right, at);
      return equal === undefined ? undefined : !equal;
    }
    case '<':
    case '<=':
    case '>':
    case '>=':
      return areOrdered(run, operator, left, right, at);
    case 'in':
      return isIn(run, left, right, at);
    default:
      return calculated(run, operator, left, right, at);
  }
};

/** A value that has to be a boolean. */
const truth = (run: CelRun, result: Result, at: number): boolean | undefined =>
  typeof result === 'boolean' || result === undefined ? result : fail(run, 'notBoolean', at);

/** What decides a loop, if an element has it; all others leave it open. */
const DECIDES: Readonly<Record<'exists' | 'all', boolean>> = { exists: true, all: false };

/** `exists` and `all` are decided by one element, whatever error another has. */
const quantified = (run: CelRun, name: 'exists' | 'all', list: CelList, body: Runner, at: number): Result => {
  let failed = false;
  for (const one of list) {
    run.element = one;
    const holds = truth(run, body(run), at);
    if (run.left < 0) return fail(run, 'steps', at);
    if (holds === DECIDES[name]) return holds;
    if (holds === undefined) failed = true;
  }
  return failed ? undefined : !DECIDES[name];
};

const selected = (run: CelRun, list: CelList, body: Runner, at: number): CelList | undefined => {
  const found: CelValue[] = [];
  for (const one of list) {
    run.element = one;
    const holds = truth(run, body(run), at);
    if (holds === undefined || run.left < 0) return undefined;
    if (holds) found.push(one);
  }
  return found;
};

const looped = (run: CelRun, name: LoopName, list: CelValue, body: Runner, at: number): Result => {
  if (!isList(list)) return fail(run, 'types', at);
  if (!isShort(run, list, at)) return undefined;
  if (name === 'exists' || name === 'all') return quantified(run, name, list, body, at);
  const found = selected(run, list, body, at);
  return name === 'filter' || found === undefined ? found : found.length === 1;
};

/** `&&` and `||` are decided by either side, whatever error the other has. */
const logical = (decides: boolean, left: Runner, right: Runner, at: number): Runner => {
  return (run) => {
    run.left -= 1;
    const one = truth(run, left(run), at);
    if (one === decides) return one;
    const other = truth(run, right(run), at);
    if (other === decides) return other;
    return one === undefined ? undefined : other;
  };
};

const callRunner = (node: Extract<CelNode, { is: 'call' }>): Runner => {
  const { name, at } = node;
  const [first = null, second = null] = node.given.map(compile);
  return (run) => {
    run.left -= 1;
    const value = first === null ? undefined : first(run);
    if (value === undefined) return undefined;
    const other = second === null ? null : second(run);
    return other === undefined ? undefined : called(run, name, value, other, at);
  };
};

const listed = (elements: readonly Runner[]): Runner => {
  return (run) => {
    run.left -= 1;
    const list: CelValue[] = [];
    for (const one of elements) {
      const value = one(run);
      if (value === undefined) return undefined;
      list.push(value);
    }
    return list;
  };
};

const both = (left: Runner, right: Runner, then: (run: CelRun, one: CelValue, other: CelValue) => Result): Runner => {
  return (run) => {
    run.left -= 1;
    const one = left(run);
    if (one === undefined) return undefined;
    const other = right(run);
    return other === undefined ? undefined : then(run, one, other);
  };
};

const after = (of: Runner, then: (run: CelRun, value: CelValue) => Result): Runner => {
  return (run) => {
    run.left -= 1;
    const value = of(run);
    return value === undefined ? undefined : then(run, value);
  };
};

const negative = (run: CelRun, value: CelValue, at: number): Result => {
  if (typeof value === 'bigint') return wholeNumber(run, -value, at);
  return typeof value === 'number' ? double(run, -value, at) : fail(run, 'types', at);
};

/** Makes an expression ready to run, once for all decisions. */
export const compile = (node: CelNode): Runner => {
  const { at } = node;
  switch (node.is) {
    case 'literal': {
      const { value } = node;
      return (run) => {
        run.left -= 1;
        return value;
      };
    }
    case 'root': {
      const { root } = node;
      return (run) => {
        run.left -= 1;
        return run.roots[root];
      };
    }
    case 'element':
      return (run) => {
        run.left -= 1;
        return run.element;
      };
    case 'member':
      return memberRunner(compile(node.of), node.name, at);
    case 'index':
      return both(compile(node.of), compile(node.by), (run, holder, index) => indexed(run, holder, index, at));
    case 'list':
      return listed(node.elements.map(compile));
    case 'not':
      return after(compile(node.of), (run, value) => {
        const holds = truth(run, value, at);
        return holds === undefined ? undefined : !holds;
      });
    case 'minus':
      return after(compile(node.of), (run, value) => negative(run, value, at));
    case 'and':
      return logical(false, compile(node.left), compile(node.right), at);
    case 'or':
      return logical(true, compile(node.left), compile(node.right), at);
    case 'operation': {
      const { operator } = node;
      return both(compile(node.left), compile(node.right), (run, left, right) =>
        operated(run, operator, left, right, at),
      );
    }
    case 'choice': {
      const [condition, yes, no] = [compile(node.condition), compile(node.yes), compile(node.no)];
      return (run) => {
        run.left -= 1;
        const holds = truth(run, condition(run), at);
        if (holds === undefined) return undefined;
        return holds ? yes(run) : no(run);
      };
    }
    case 'has': {
      const { name } = node.of;
      return after(compile(node.of.of), (run, holder) =>
        isObject(holder) ? memberOf(holder, name) !== undefined : fail(run, 'notObject', at),
      );
    }
    case 'call':
      return callRunner(node);
    case 'loop': {
      const { name } = node;
      const body = compile(node.body);
      return after(compile(node.list), (run, list) => looped(run, name, list, body, at));
    }
  }
};
