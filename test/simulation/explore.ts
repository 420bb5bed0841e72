import { describeSchedule, drawSchedule, type Kind } from './schedule.js';
import { shrink } from './shrink.js';
import { type Outcome, simulate } from './simulate.js';

const calm = { faulty: false } as const;
const faulty = { faulty: true } as const;

/** The kinds that the seeds cycle through. Most failures occur where many servers meet faults. */
const kinds: readonly Kind[] = [
  { mode: 'shared', ...faulty },
  { mode: 'shared', ...calm },
  { mode: 'shared', ...faulty },
  { mode: 'alone', ...faulty },
  { mode: 'shared', ...faulty },
  { mode: 'alone', ...calm },
];

export const kindOf = (seed: number): Kind => kinds[seed % kinds.length] ?? { mode: 'shared', ...faulty };

/** How many violations of one seed are reported. */
const TOLD = 8;

export type Explored = {
  readonly outcome: Outcome;
  /** The report on a seed that failed: its shortened schedule, and the violations. */
  readonly failure: string | null;
};

/** Runs one seed, and shortens its schedule when it fails. */
export const explore = async (seed: number): Promise<Explored> => {
  const schedule = drawSchedule(seed, kindOf(seed));
  const outcome = await simulate(schedule);
  if (outcome.violations.length === 0) return { outcome, failure: null };
  const shortened = await shrink(schedule, async (candidate) => (await simulate(candidate)).violations.length > 0);
  const { violations } = await simulate(shortened);
  const told = violations.slice(0, TOLD).map((violation) => `  broken ${violation}`);
  return { outcome, failure: [describeSchedule(shortened), ...told].join('\n') };
};
