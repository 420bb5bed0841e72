import { Rejection } from '../../kernel/base/rejection.js';
import type { ReadModels } from '../../ports/read-models.js';
import { ghosts, type GhostRow, OPEN_GHOST } from '../../../projections/ghosts.js';

/** How many sessions of one tenant may be playing, waiting to play, or waiting for their report at a time. */
export const OPEN_GHOSTS = 200;
const RETRY_SECONDS = 10;

const openSessions = async (readModels: ReadModels, tenant: string, position: number): Promise<readonly GhostRow[]> => {
  await readModels.reachedPosition(ghosts, position);
  const { rows } = await readModels.list(ghosts, {
    ...{ partition: tenant, tags: [OPEN_GHOST] },
    ...{ direction: 'ascending', limit: OPEN_GHOSTS },
  });
  return rows.map(({ row }) => row as GhostRow);
};

/** @throws Rejection GHOST_RUNNING while a session of the tenant plays this level, or its report is missing; errors from the read models */
export const requireUnplayed = async (
  readModels: ReadModels,
  tenant: string,
  levelId: string,
  position: number,
): Promise<void> => {
  const playing = (await openSessions(readModels, tenant, position)).find(({ level }) => level.levelId === levelId);
  if (playing !== undefined)
    throw new Rejection('GHOST_RUNNING', { details: { sessionId: playing.sessionId }, retryAfter: RETRY_SECONDS });
};

/**
 * Concurrent requests do not see each other and may exceed the limit.
 * @param position the position of this client's last write: its own sessions count
 * @throws Rejection GHOSTS_RUNNING while too many sessions of the tenant have not ended or have no report; errors from the read models
 */
export const requireGhostRoom = async (readModels: ReadModels, tenant: string, position: number): Promise<void> => {
  if ((await openSessions(readModels, tenant, position)).length >= OPEN_GHOSTS)
    throw new Rejection('GHOSTS_RUNNING', { details: { most: OPEN_GHOSTS }, retryAfter: RETRY_SECONDS });
};
