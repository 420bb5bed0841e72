import { Rejection } from '../../domain/shared/rejection.js';
import type { SoulArchive } from '../../ports/soul-archive.js';

/** How many bytes of a tenant's souls may wait for their upload. What is being sealed may go beyond it by one soul for each server process. */
export const MAX_WAITING_BYTES = 256 * 1024 * 1024;
const RETRY_SECONDS = 60;

/** @throws Rejection SOULS_WAITING while too many souls of the tenant wait for their upload (contract 8.1); what the archive raises */
export const requireWaitingRoom = async (archive: Pick<SoulArchive, 'stagedBytes'>, tenant: string): Promise<void> => {
  if ((await archive.stagedBytes(tenant)) < MAX_WAITING_BYTES) return;
  throw new Rejection('SOULS_WAITING', { details: { limitBytes: MAX_WAITING_BYTES }, retryAfter: RETRY_SECONDS });
};
