import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import { requireRecordable } from '../base/input-bytes.js';
import type { Json } from '../base/json.js';
import { PAUSE_BYTES } from '../base/page-size.js';

/**
 * `requireRecordable`, then yields to other work if the data is large: deciding, hashing and writing it takes as long again.
 * @throws Rejection EVENTS_TOO_LARGE
 */
export const takeRecordable = async (brought: Json): Promise<void> => {
  if (requireRecordable(brought) > PAUSE_BYTES) await yieldToEventLoop();
};
