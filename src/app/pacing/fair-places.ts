import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';

type InLine = { readonly tenant: string; readonly enter: () => void };

/** Does work in a place of its own, once there is one for this tenant. */
export type FairPlaces = <T>(tenant: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

export type PlacesToShare = {
  readonly clock: Pick<Clock, 'after'>;
  /** How much work goes on at once. */
  readonly most: number;
  /** How long somebody waits for a place, in milliseconds. */
  readonly waitMs: number;
  /** How many wait at once, and how many of one tenant. */
  readonly mostWaiting: number;
  readonly mostWaitingOfTenant: number;
};

/**
 * Places that are waited for: what comes free goes to the tenant that has the fewest, of several to who has waited longest.
 * The work raises Rejection BUSY at once when too many wait, and after `waitMs` without a place, the reason of the signal before it begins, and what it
 * throws itself.
 */
export const sharePlaces = ({ clock, most, waitMs, mostWaiting, mostWaitingOfTenant }: PlacesToShare): FairPlaces => {
  const taken = new Map<string, number>();
  /** Who has waited longest comes first. */
  const waiting = new Set<InLine>();
  let free = most;

  const take = (tenant: string): void => {
    free -= 1;
    taken.set(tenant, (taken.get(tenant) ?? 0) + 1);
  };
  const leave = (tenant: string): void => {
    free += 1;
    const left = (taken.get(tenant) ?? 1) - 1;
    if (left === 0) taken.delete(tenant);
    else taken.set(tenant, left);
    const has = (one: InLine): number => taken.get(one.tenant) ?? 0;
    const [first, ...others] = waiting;
    if (first !== undefined) others.reduce((best, one) => (has(one) < has(best) ? one : best), first).enter();
  };
  const isFull = (tenant: string): boolean =>
    waiting.size >= mostWaiting || [...waiting].filter((one) => one.tenant === tenant).length >= mostWaitingOfTenant;
  const place = (tenant: string, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (free > 0) {
        take(tenant);
        resolve();
        return;
      }
      if (isFull(tenant)) {
        reject(new Rejection('BUSY', { retryAfter: 1 }));
        return;
      }
      const settle = (): void => {
        cancel();
        signal.removeEventListener('abort', gone);
        waiting.delete(mine);
      };
      const gone = (): void => {
        settle();
        reject(signal.reason as Error);
      };
      const mine: InLine = {
        tenant,
        enter: () => {
          settle();
          take(tenant);
          resolve();
        },
      };
      const cancel = clock.after(waitMs, () => {
        settle();
        reject(new Rejection('BUSY', { retryAfter: 1 }));
      });
      signal.addEventListener('abort', gone, { once: true });
      waiting.add(mine);
    });

  return async (tenant, signal, work) => {
    signal.throwIfAborted();
    await place(tenant, signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      leave(tenant);
    }
  };
};
