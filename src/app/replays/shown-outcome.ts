import type { DifferenceKind } from '../../domain/replay/difference-kinds.js';
import type { Json } from '../../domain/shared/json.js';
import { shortened } from '../../domain/shared/shorten.js';
import type { DecisionOutcome } from './decide-again.js';

/** How much of an outcome a sample shows, in bytes of JSON (contract 10.3). */
const SHOWN_BYTES = 2_048;

/** Of an outcome what a difference of this kind is about: a verdict without its grounds, or these where they are all that differs. */
export const shownOutcome = (outcome: DecisionOutcome | null, kind: DifferenceKind): Json => {
  if (outcome === null) return null;
  const { verdict, grounds, ...rest } = outcome;
  if (kind === 'otherTrace') return shortened(grounds ?? rest, SHOWN_BYTES);
  if (verdict !== undefined) return shortened(verdict, SHOWN_BYTES);
  const { rules: _rules, seen: _seen, seenLeftOut: _left, ...made } = rest;
  return shortened(made, SHOWN_BYTES);
};
