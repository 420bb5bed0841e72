import { onClosed } from '../on-closed.js';
import type { RequestContext } from '../request-state.js';

/**
 * Runs what comes after, and then gives a permit back: at once, or, for a stream, once it was taken or its client has left. A whole answer is made by
 * then. It may wait for earlier ones on its connection, or for a client that is slow or still sending, and none of them must keep others out.
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
  if (ctx.state.streams) onClosed(ctx, release);
  else release();
};
