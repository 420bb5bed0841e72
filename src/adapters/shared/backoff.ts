import type { Random } from '../../ports/random.js';

/** The pause after this many failures in a row: `firstMs` after the first, doubling after each further one. Half of it is random. */
export const backoffMs = (random: Random, firstMs: number, failures: number): number => {
  const [chance = 0] = random.bytes(1);
  return firstMs * 2 ** (failures - 1) * (0.5 + chance / 512);
};
