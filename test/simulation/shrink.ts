import type { Schedule } from './schedule.js';

/** How many runs the shortening of a schedule may take. */
const RUNS = 200;

/**
 * Removes from a failing schedule whatever it does not need to fail: faults and bodies, in ever smaller pieces (Zeller's ddmin), and then repetitions of
 * each body.
 */
export const shrink = async (failing: Schedule, fails: (schedule: Schedule) => Promise<boolean>): Promise<Schedule> => {
  let shortest = failing;
  let runs = 0;
  const isTaken = async (candidate: Schedule): Promise<boolean> => {
    runs += 1;
    if (runs > RUNS || !(await fails(candidate))) return false;
    shortest = candidate;
    return true;
  };
  const shorten = async <T>(
    of: (schedule: Schedule) => readonly T[],
    put: (kept: readonly T[]) => Partial<Schedule>,
  ) => {
    for (let size = Math.ceil(of(shortest).length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let from = 0; from < of(shortest).length;) {
        const kept = of(shortest).filter((_, index) => index < from || index >= from + size);
        if (!(await isTaken({ ...shortest, ...put(kept) }))) from += size;
      }
    }
  };
  await shorten(
    ({ faults }) => faults,
    (faults) => ({ faults }),
  );
  await shorten(
    ({ bodies }) => bodies,
    (bodies) => ({ bodies }),
  );
  for (const { name } of shortest.bodies) {
    const once = shortest.bodies.map((body) => (body.name === name ? { ...body, times: 1 } : body));
    await isTaken({ ...shortest, bodies: once });
  }
  return shortest;
};
