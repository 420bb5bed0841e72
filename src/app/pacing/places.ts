import { Rejection } from '../../domain/shared/rejection.js';

/**
 * Places for work that takes much memory: so many at once, the rest is told to come again.
 * @returns takes a place, and returns what gives it back, to be called once @throws Rejection BUSY when none is free
 */
export const placesFor = (most: number): (() => () => void) => {
  let taken = 0;
  return () => {
    if (taken >= most) throw new Rejection('BUSY', { retryAfter: 1 });
    taken += 1;
    return () => void (taken -= 1);
  };
};
