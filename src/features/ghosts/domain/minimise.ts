/**
 * Delta debugging (ddmin; Zeller and Hildebrandt 2002): makes a list of inputs that fails as short as it can, by trying parts of it. One trial is a
 * step, so the caller paces it and may keep the state as JSON in between.
 */
export type Minimising = {
  /** The shortest list known to fail, by positions in the first one. */
  readonly kept: readonly number[];
  /** Into how many parts it is cut. */
  readonly parts: number;
  /** The trial under way: the part alone, or everything but the part. */
  readonly part: number;
  readonly phase: 'part' | 'rest';
  readonly trials: number;
  /** `minimal`: leaving out any one of them does not fail any more. `bounded`: the trials were used up before. */
  readonly ended: 'minimal' | 'bounded' | null;
};

/** How many trials one list gets. */
export const TRIALS = 2_000;

/** Begins with a list of so many inputs that is known to fail. */
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

/** The positions to try next, in order; null when it has ended. */
export const trialOf = (state: Minimising): readonly number[] | null => {
  if (state.ended !== null) return null;
  const [from, to] = cut(state);
  return state.phase === 'part' ? state.kept.slice(from, to) : [...state.kept.slice(0, from), ...state.kept.slice(to)];
};

/** A list that is shorter now; one input alone cannot be cut any more. */
const shorter = (state: Minimising, kept: readonly number[]): Minimising => {
  // What is left of smaller parts did not fail part by part, so only the rests are tried again.
  const parts = state.phase === 'part' ? 2 : Math.min(Math.max(state.parts - 1, 2), kept.length);
  const phase = parts > 2 ? 'rest' : 'part';
  return { ...state, kept, parts, part: 0, phase, ended: kept.length < 2 ? 'minimal' : null };
};

/** After the last part: all but each part, then smaller parts, until each part is one input. With two parts, each is what the other leaves out. */
const nextRound = (state: Minimising): Minimising => {
  if (state.phase === 'part' && state.parts > 2) return { ...state, phase: 'rest', part: 0 };
  if (state.parts >= state.kept.length) return { ...state, ended: 'minimal' };
  return { ...state, phase: 'part', part: 0, parts: Math.min(state.parts * 2, state.kept.length) };
};

/** The state after the trial of `trialOf` was made. */
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
