import { type Json, jcs } from '../../../src/kernel/base/json.js';
import { shortDigest } from '../../../src/kernel/crypto/sha256.js';
import { comparableResults, comparableSteps, type GhostResults, type GhostStep } from '../../support/ghosts.js';

/** A summary of a session: a digest of each step, in their order, and its result at the end. */
export type Played = { readonly steps: readonly string[]; readonly results: string };

const textOf = (value: object): string => jcs(JSON.parse(JSON.stringify(value)) as Json);

export const digestsOf = (steps: readonly GhostStep[]): readonly string[] =>
  comparableSteps(steps).map((step) => shortDigest(textOf(step)));

export const resultsText = (results: GhostResults): string => textOf(comparableResults(results));

/** The first difference between a session and the undisturbed one, for a person; null when they are the same. */
export const differenceOf = (wanted: Played, got: Played): string | null => {
  const at = wanted.steps.findIndex((digest, n) => digest !== got.steps[n]);
  const [wantedSteps, gotSteps] = [wanted.steps.length, got.steps.length];
  if (at >= 0 && at < gotSteps) return `step ${String(at + 1)} of ${String(wantedSteps)} is another one`;
  if (wantedSteps !== gotSteps) return `it has ${String(gotSteps)} steps, and not ${String(wantedSteps)}`;
  return wanted.results === got.results ? null : `it ended otherwise:\n${got.results}\nand not\n${wanted.results}`;
};
