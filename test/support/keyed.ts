import type { KeyedRequest } from '../../src/ports/idempotency-store.js';

/** A request of one tenant with an Idempotency-Key. */
export const keyed = (scope: string, key: string, digest = 'digest'): KeyedRequest => ({
  tenant: 'tenant',
  scope,
  key,
  digest,
});
