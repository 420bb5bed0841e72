/**
 * Delta debugging (ddmin; Zeller and Hildebrandt 2002): shortens a list of inputs that fails as far as possible, by trying parts of it. One trial is
 * one step, so the caller controls the pace and may store the state as JSON in between.
 */
export type Minimising = {
  /** The shortest list known to fail, by positions in the first one. */
  readonly kept: readonly number[];
  /** The number of parts it is cut into. */
  readonly parts: number;
  /** The current trial: the part alone, or everything except the part. */
  readonly part: number;
  readonly phase: 'part' | 'rest';
  readonly trials: number;
  /** `minimal`: without any one of them it no longer fails. `bounded`: the trials ran out first. */
  readonly ended: 'minimal' | 'bounded' | null;
};

/** The number of trials for one list. */
export const TRIALS = 2_000;

/** Begins with a list of this many inputs that is known to fail. */
export const beginMinimising = (length: number): Minimising => ({
  kept: Array.from({ length }, (_, position) => position),
  parts: 2,
  part: 0,
  phase: 'part',
  trials: 0,
  ended: length < 2 ? 'minimal' : null,
});

const cut = ({ kept, parts, part }: Minimising): readonly [from: number, to: number] => [
  Math.floor((part * kept.length) / parts),
  Math.floor(((part + 1) * kept.length) / parts),
];

/** The positions to try next, in order; null once it has ended. */
export const trialOf = (state: Minimising): readonly number[] | null => {
  if (state.ended !== null) return null;
  const [from, to] = cut(state);
  return state.phase === 'part' ? state.kept.slice(from, to) : [...state.kept.slice(0, from), ...state.kept.slice(to)];
};

/** A list that is now shorter; a single input cannot be cut further. */
const shorter = (state: Minimising, kept: readonly number[]): Minimising => {
  // The smaller parts did not fail one by one, so only the complements are tried again.
  const parts = state.phase === 'part' ? 2 : Math.min(Math.max(state.parts - 1, 2), kept.length);
  const phase = parts > 2 ? 'rest' : 'part';
  return { ...state, kept, parts, part: 0, phase, ended: kept.length < 2 ? 'minimal' : null };
};

/** After the last part: all but each part, then smaller parts, until each part is one input. With two parts, each is the complement of the other. */
const nextRound = (state: Minimising): Minimising => {
  if (state.phase === 'part' && state.parts > 2) return { ...state, phase: 'rest', part: 0 };
  if (state.parts >= state.kept.length) return { ...state, ended: 'minimal' };
  return { ...state, phase: 'part', part: 0, parts: Math.min(state.parts * 2, state.kept.length) };
};

/** The state after the trial of `trialOf`. */
export const noteTrial = (state: Minimising, failed: boolean): Minimising => {
  const tried = trialOf(state);
  if (tried === null) return state;
  const counted = { ...state, trials: state.trials + 1 };
  const next = failed
    ? shorter(counted, tried)
    : state.part + 1 < state.parts
      ? { ...counted, part: state.part + 1 }
      : nextRound(counted);
  return next.ended === null && next.trials >= TRIALS ? { ...next, ended: 'bounded' } : next;
};
