import type { Clock } from './clock.js';
import type { Embedder } from './embedder.js';
import type { EventStore } from './event-store.js';
import type { IdempotencyStore } from './idempotency-store.js';
import type { KeyUsage } from './key-usage.js';
import type { Random } from './random.js';
import type { RateLimiter } from './rate-limiter.js';
import type { ReadModels } from './read-models.js';
import type { RowSearch } from './row-search.js';
import type { Snapshots } from './snapshots.js';
import type { SoulArchive } from './soul-archive.js';
import type { TextSearch } from './text-search.js';
import type { VectorSearch } from './vector-search.js';

/** All access to the outside world, as one profile opens it. */
export type Ports = {
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EventStore;
  readonly readModels: ReadModels;
  readonly rowSearch: RowSearch;
  readonly textSearch: TextSearch;
  readonly snapshots: Snapshots;
  readonly soulArchive: SoulArchive;
  readonly idempotency: IdempotencyStore;
  readonly rateLimiter: RateLimiter;
  readonly keyUsage: KeyUsage;
  readonly embedder: Embedder;
  readonly vectorSearch: VectorSearch;
};
