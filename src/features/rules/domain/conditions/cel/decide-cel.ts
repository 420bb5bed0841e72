import type { Json } from '../../../../../kernel/base/json.js';
import { memberOf } from '../reach.js';
import { type CelExpression, characterAt } from './read-cel.js';
import type { CelRead } from './reads.js';
import { CEL_ERRORS, type CelError, type CelRun } from './run.js';
import { CEL_ROOTS, type CelRoot } from './tree.js';

/** What expressions read by name. */
export type CelRoots = Readonly<Record<CelRoot, Json>>;

/** The roots of expressions; one that is not there is empty. @param found what the roots of paths lead to */
export const celRoots = (found: Readonly<Partial<Record<CelRoot, Json | undefined>>>): CelRoots => {
  const player = memberOf(found.context, 'player');
  const rooted = CEL_ROOTS.map((root): [CelRoot, Json] => {
    if (root === 'observation') return [root, found.observation ?? ''];
    return [root, (root === 'player' ? player : found[root]) ?? {}];
  });
  return Object.fromEntries(rooted) as CelRoots;
};

const shown = (error: CelError, text: string, at: number): string =>
  `${CEL_ERRORS[error]} (character ${characterAt(text, at)})`;

/** Whether an expression holds, or why it has no result; and how many steps it took: at most those it may take, and one for each of its nodes. */
export const decideCel = (
  { text, run: runner, steps }: CelExpression,
  roots: CelRoots,
): { readonly outcome: 'yes' | 'no' | { readonly error: string }; readonly work: number } => {
  const run: CelRun = { roots, element: null, left: steps, failure: null };
  const result = runner(run);
  const work = steps - run.left;
  if (run.left < 0) return { outcome: { error: shown('steps', text, run.failure?.at ?? 0) }, work };
  if (typeof result === 'boolean') return { outcome: result ? 'yes' : 'no', work };
  const { error, at } = run.failure ?? { error: 'notBoolean' as const, at: 0 };
  return { outcome: { error: shown(error, text, at) }, work };
};

/** The value of members that an expression names; undefined if they are missing. */
export const valueOf = (roots: CelRoots, { root, names }: CelRead): Json | undefined =>
  names.reduce<Json | undefined>((holder, name) => memberOf(holder, name), roots[root]);
