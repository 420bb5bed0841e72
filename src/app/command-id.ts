import type { Clock } from '../ports/clock.js';
import type { Random } from '../ports/random.js';

/** A fresh command id: the time and 96 random bits, from characters that ids may hold (contract 1.6). */
export const makeCommandId = (clock: Clock, random: Random): string =>
  `c${clock.now().getTime().toString(36)}_${Buffer.from(random.bytes(12)).toString('base64url')}`;
