import { Rejection } from '../../domain/shared/rejection.js';
import type { ReadModels } from '../../ports/read-models.js';
import { ghosts, OPEN_GHOST } from '../../../projections/ghosts.js';

/** How many sessions of one tenant may play, or wait to, at the same time. */
export const OPEN_GHOSTS = 200;
const RETRY_SECONDS = 10;

/**
 * @param position what this client has written so far: its own sessions count
 * @throws Rejection GHOSTS_RUNNING while too many sessions of the tenant are not over (contract 9.8); what the read models raise
 */
export const requireGhostRoom = async (readModels: ReadModels, tenant: string, position: number): Promise<void> => {
  await readModels.reachedPosition(ghosts, position);
  const { rows } = await readModels.list(ghosts, {
    partition: tenant,
    tags: [OPEN_GHOST],
    direction: 'ascending',
    limit: OPEN_GHOSTS,
  });
  if (rows.length >= OPEN_GHOSTS)
    throw new Rejection('GHOSTS_RUNNING', { details: { most: OPEN_GHOSTS }, retryAfter: RETRY_SECONDS });
};
