import { Readable } from 'node:stream';

import { onClosed } from '../on-closed.js';
import type { RequestContext } from '../request-state.js';

/**
 * Runs what comes after, and then gives a permit back: at once, or with a stream when that was taken or its client has left. A whole answer is made by
 * then. It may wait for earlier ones on its connection, or for a slow client, and none of them must keep others out.
 */
export const releaseAfter = async (
  ctx: RequestContext,
  next: () => Promise<void>,
  release: () => void,
): Promise<void> => {
  try {
    await next();
  } catch (thrown) {
    release();
    throw thrown;
  }
  if (ctx.body instanceof Readable) onClosed(ctx, release);
  else release();
};
