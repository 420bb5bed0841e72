import type { Clock } from '../ports/clock.js';
import type { Random } from '../ports/random.js';

/** How many requests a second one process should refuse at most: a refusal costs as much as a good part of a step. */
export const REFUSALS_PER_SECOND = 100;
/** How long clients are asked to wait at most, in seconds; longer where what is away asks for it. */
export const MOST_SECONDS = 10;
/** Over which time refusals are counted, in milliseconds. */
const COUNTED_MS = 1_000;

type Pacing = {
  /** Counts a refusal. @param seconds what it asks for @returns what its client is asked for */
  stretched(seconds: number): number;
};

/**
 * Asks clients to come again the later, the more of them wait (contract 1.5). A crowd that has gathered in an outage would otherwise keep the machine
 * from its work by asking alone. Each gets a random time of its own, so that not all come at once.
 */
export const createRetryPacing = ({
  clock,
  random,
}: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: Random;
}): Pacing => {
  let sinceMs = clock.monotonicMs();
  let counted = { refusals: 0, asked: 0, told: 0 };
  /** Up to how many seconds more than they ask for. */
  let more = 0;
  const turn = (passedMs: number): void => {
    const { refusals, asked, told } = counted;
    // Who is told to wait for `told / refusals` seconds on average, and makes so many requests a second meanwhile.
    const waiting = (told * 1_000) / passedMs;
    more = Math.max(0, Math.round(2 * (waiting / REFUSALS_PER_SECOND - asked / Math.max(1, refusals))));
    sinceMs += passedMs;
    counted = { refusals: 0, asked: 0, told: 0 };
  };
  return {
    stretched: (seconds) => {
      const passedMs = clock.monotonicMs() - sinceMs;
      if (passedMs >= COUNTED_MS) turn(passedMs);
      const [byte = 0] = random.bytes(1);
      const room = Math.max(0, Math.min(more, MOST_SECONDS - seconds));
      const told = seconds + (byte % (room + 1));
      counted = { refusals: counted.refusals + 1, asked: counted.asked + seconds, told: counted.told + told };
      return told;
    },
  };
};
