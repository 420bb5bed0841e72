import { type ASTNode, Environment } from 'cel-js-2';
import { CEL_ROOTS } from './tree.js';

/** Where an expression cannot be read, in UTF-16 units, and what the library says about it. */
export type ParseFailure = {
  readonly failed: 'text' | 'types';
  readonly code: string;
  readonly said: string;
  readonly at: number;
};

/** A parsed expression, and whether its type is certainly a boolean. */
export type Parsed = { readonly root: ASTNode; readonly types: () => ParseFailure | 'boolean' | 'other' };

/** Bounds of the library, which read-cel.ts limits further. Its nodes include what it makes of loops, its levels the names of a path. */
const LIMITS = { maxAstNodes: 1_000, maxDepth: 64 };

const neverRun = (): never => {
  throw new Error('Expressions run in run-tree.ts, not in the library.');
};

/** Knows the types of the roots, and that the doubles of JSON can be mixed with whole numbers. */
const environment = (): Environment => {
  const made = new Environment({ limits: LIMITS, homogeneousAggregateLiterals: false });
  for (const root of CEL_ROOTS)
    made.registerVariable(root, root === 'observation' ? 'string' : root === 'player' ? 'dyn' : 'map<string, dyn>');
  for (const operator of ['+', '-', '*', '/', '%']) {
    made.registerOperator(`int ${operator} double: double`, neverRun);
    made.registerOperator(`double ${operator} int: double`, neverRun);
  }
  made.registerOperator('double % double: double', neverRun);
  made.registerOperator('int == double: bool', neverRun);
  return made;
};

const cel = environment();

type LibraryError = {
  readonly code?: string;
  readonly summary?: string;
  readonly range?: { readonly start: number };
};

const failureOf = (error: unknown, failed: ParseFailure['failed']): ParseFailure => {
  // A comparison with an element of [] fails without a code.
  const { code = 'unclear', summary = '', range } = error as LibraryError;
  return { failed, code, said: summary, at: range?.start ?? 0 };
};

/** Parses an expression with the library, whose version is that of the logic: what it accepts never changes. */
export const parseCel = (text: string): Parsed | ParseFailure => {
  try {
    const parsed = cel.parse(text);
    return {
      root: parsed.ast,
      types: () => {
        const { valid, type, error } = parsed.check();
        if (!valid) return failureOf(error, 'types');
        return type === 'bool' ? 'boolean' : 'other';
      },
    };
  } catch (error) {
    return failureOf(error, 'text');
  }
};
