import { Rejection } from '../../kernel/base/rejection.js';
import type { ReadModels } from '../../ports/read-models.js';
import { OPEN_REPLAY, replays } from '../../../projections/replays.js';

/** How many replays of one tenant may run at a time. */
export const OPEN_REPLAYS = 8;
const RETRY_SECONDS = 10;

/**
 * Concurrent requests do not see each other and may exceed the limit.
 * @param position the position of this client's last write: its own replays count
 * @throws Rejection REPLAYS_RUNNING while too many replays of the tenant have not ended; errors from the read models
 */
export const requireReplayRoom = async (
  readModels: Pick<ReadModels, 'list' | 'reachedPosition'>,
  tenant: string,
  position: number,
): Promise<void> => {
  await readModels.reachedPosition(replays, position);
  const { rows } = await readModels.list(replays, {
    ...{ partition: tenant, tags: [OPEN_REPLAY] },
    ...{ direction: 'ascending', limit: OPEN_REPLAYS },
  });
  if (rows.length >= OPEN_REPLAYS)
    throw new Rejection('REPLAYS_RUNNING', { details: { most: OPEN_REPLAYS }, retryAfter: RETRY_SECONDS });
};
