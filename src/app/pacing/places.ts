import { Rejection } from '../../domain/shared/rejection.js';

const busy = (): Rejection => new Rejection('BUSY', { retryAfter: 1 });

/**
 * Places for work that takes much memory: so many at once, the rest is told to come again.
 * @returns takes a place, and returns what gives it back, to be called once @throws Rejection BUSY when none is free
 */
export const placesFor = (most: number): (() => () => void) => {
  let taken = 0;
  return () => {
    if (taken >= most) throw busy();
    taken += 1;
    return () => void (taken -= 1);
  };
};

/**
 * Places as those of `placesFor`, of which one tenant takes only some: whoever is slow to give them back keeps no other tenant out.
 * @param each at most for one tenant
 */
export const placesByTenant = (most: number, each: number): ((tenant: string) => () => void) => {
  const enter = placesFor(most);
  const taken = new Map<string, number>();
  return (tenant) => {
    const own = taken.get(tenant) ?? 0;
    if (own >= each) throw busy();
    const leave = enter();
    taken.set(tenant, own + 1);
    return () => {
      leave();
      const left = (taken.get(tenant) ?? 1) - 1;
      if (left === 0) taken.delete(tenant);
      else taken.set(tenant, left);
    };
  };
};
