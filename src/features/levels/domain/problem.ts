import { cutText } from '../../../kernel/base/text.js';

/** Something in a map that keeps it from being a level, or that looks like a mistake: where, by names, and what to change. */
export type LevelProblem = {
  /** Null for the map itself, and where the map has no name. */
  readonly layer: string | null;
  readonly object: string | null;
  readonly problem: string;
};

export type MapPlace = Pick<LevelProblem, 'layer' | 'object'>;

export const WHOLE_MAP: MapPlace = { layer: null, object: null };

/** The number of problems that are reported; designers fix these and send the map again. */
const MAX_TOLD = 50;
/** The limit of a name in a message, in UTF-16 units. */
const NAME_CHARS = 128;

/** Collects the remarks of reading a map: problems refuse it, warnings do not. */
export type MapRemarks = {
  readonly problems: readonly LevelProblem[];
  readonly warnings: readonly LevelProblem[];
  refuse(at: MapPlace, problem: string): void;
  warn(at: MapPlace, problem: string): void;
};

const shownName = (name: string | null): string | null =>
  name === null || name === '' ? null : cutText(name, NAME_CHARS);

/** A name within a sentence. */
export const quoted = (name: string): string => `"${cutText(name, NAME_CHARS)}"`;

export const createRemarks = (): MapRemarks => {
  const problems: LevelProblem[] = [];
  const warnings: LevelProblem[] = [];
  const add = (to: LevelProblem[], { layer, object }: MapPlace, problem: string): void => {
    if (to.length < MAX_TOLD) to.push({ layer: shownName(layer), object: shownName(object), problem });
  };
  return {
    problems,
    warnings,
    refuse: (at, problem) => add(problems, at, problem),
    warn: (at, problem) => add(warnings, at, problem),
  };
};
