import { EmbedPending, type EmbedPendingDeps } from '../features/memory/embed-pending.js';
import type { Random } from '../ports/random.js';
import type { RelayLease } from '../ports/relay-lease.js';

/** How many random bytes name a process among those that embed. */
const HOLDER_BYTES = 12;

export type EmbeddingRoleOptions = Omit<EmbedPendingDeps, 'place'> & {
  readonly random: Random;
  /** The place of the one process that works; null where there is only one. */
  readonly lease: RelayLease | null;
};

/** Embeds texts in the background: a part of the projector role. Any number may run; one of them works. It waits for what is away. */
export const startEmbedding = ({ random, lease, ...deps }: EmbeddingRoleOptions): EmbedPending => {
  const holder = Buffer.from(random.bytes(HOLDER_BYTES)).toString('hex');
  const embedding = new EmbedPending({ ...deps, place: lease && { lease, holder } });
  embedding.start();
  return embedding;
};
