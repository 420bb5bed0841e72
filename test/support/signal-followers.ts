import { getEventListeners } from 'node:events';

/** How many listeners a signal has, and signals that AbortSignal.any made of it: Node 20 keeps those in a set that only it can see. */
export const followersOf = (signal: AbortSignal): number => {
  const symbol = Object.getOwnPropertySymbols(signal).find(({ description }) => description === 'kDependantSignals');
  const made =
    symbol === undefined ? undefined : (signal as unknown as Record<symbol, Set<unknown> | undefined>)[symbol];
  return getEventListeners(signal, 'abort').length + (made?.size ?? 0);
};
