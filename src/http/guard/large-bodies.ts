import type { IncomingMessage } from 'node:http';

import { Semaphore } from '../../concurrency/semaphore.js';
import { DEFAULT_BODY_LIMIT } from './read-body.js';

/**
 * How many requests with a large body one route has at once in this process, and of one tenant: each may take ten times as much memory as its bytes, and
 * comes as slowly as its client likes.
 */
const PLACES = 8;
const TENANT_PLACES = 4;

/** Permits for requests with a large body: one whose length is beyond DEFAULT_BODY_LIMIT, or is not said. */
export const largeBodies = (): { enter(req: IncomingMessage, tenant: string): () => void } => {
  const permits = new Semaphore(PLACES, TENANT_PLACES);
  return {
    /** @returns releases the permit @throws Rejection BUSY */
    enter: ({ headers }, tenant) => {
      const length = headers['content-length'];
      const isLarge =
        length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > DEFAULT_BODY_LIMIT;
      return isLarge ? permits.acquire(tenant) : () => undefined;
    },
  };
};
