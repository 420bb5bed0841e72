import { onClosed } from '../on-closed.js';
import type { RequestContext } from '../request-state.js';

/**
 * Runs the next middleware, and then releases a permit: immediately, or, for a stream, once it was read or its client has disconnected. Any other
 * response is complete by then. It may wait for earlier ones on its connection, or for a client that is slow or still sending, and neither must block
 * other requests.
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
