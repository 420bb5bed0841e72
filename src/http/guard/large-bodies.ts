import type { IncomingMessage } from 'node:http';

import type { Json } from '../../domain/shared/json.js';
import { requireModest } from '../../domain/shared/modest-json.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { inSlices } from '../../app/pacing/in-slices.js';
import { readJson } from '../json.js';
import { DEFAULT_BODY_LIMIT } from './read-body.js';

/** How many requests with a large body one route has at once in this process: each may take ten times as much memory as its bytes. */
const PLACES = 8;
/**
 * Reads JSON that stands as a text in a large body, as strictly as the body itself.
 * @throws Rejection BODY_TOO_LARGE, MALFORMED_JSON
 */
export const readLargeText = async (text: string): Promise<Json> => {
  await inSlices(requireModest(Buffer.from(text)));
  return readJson(text);
};

/** Places for requests with a large body: one whose length is beyond DEFAULT_BODY_LIMIT, or is not said. */
export const largeBodies = (): { enter(req: IncomingMessage): () => void } => {
  let taken = 0;
  return {
    /** @returns gives the place back @throws Rejection BUSY */
    enter: ({ headers }) => {
      const length = headers['content-length'];
      const isLarge =
        length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > DEFAULT_BODY_LIMIT;
      if (!isLarge) return () => undefined;
      if (taken >= PLACES) throw new Rejection('BUSY', { retryAfter: 1 });
      taken += 1;
      return () => void (taken -= 1);
    },
  };
};
