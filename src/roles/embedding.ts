import { EmbedPending, type EmbedPendingDeps } from '../features/memory/embed-pending.js';
import type { Random } from '../ports/random.js';
import type { RelayLease } from '../ports/relay-lease.js';

/** The number of random bytes in the name of an embedding process. */
const HOLDER_BYTES = 12;

export type EmbeddingRoleOptions = Omit<EmbedPendingDeps, 'place'> & {
  readonly random: Random;
  /** The lease of the active process; null if there is only one process. */
  readonly lease: RelayLease | null;
};

/** Embeds texts in the background: a part of the projector role. Any number may run; one of them works. It waits for what is away. */
export const startEmbedding = ({ random, lease, ...deps }: EmbeddingRoleOptions): EmbedPending => {
  const holder = Buffer.from(random.bytes(HOLDER_BYTES)).toString('hex');
  const embedding = new EmbedPending({ ...deps, place: lease && { lease, holder } });
  embedding.start();
  return embedding;
};
