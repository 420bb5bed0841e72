import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { Random } from '../../ports/random.js';

/** The dependencies of embedders. */
export type EmbedderDeps = {
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly random: Random;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
};
