import { type Custody, custodyEvents, evolveCustody } from './domain/custody.js';
import type { Fold } from '../../kernel/streams/fold.js';

/** How the custody of a soul is folded. */
export const custodyFold: Fold<Custody> = {
  initial: { owner: null },
  evolve: evolveCustody,
  versionOf: custodyEvents.versionOf,
};
