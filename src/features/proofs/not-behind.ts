import { firstOrigin } from './domain/origin.js';
import type { LogState } from './domain/state.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { CheckpointReceiver } from '../../ports/checkpoint-receiver.js';

/** What checkpoints are compared with before one is signed. */
export type Published = {
  /** The external receiver of checkpoints; null if there is none. */
  readonly checkpointReceiver: CheckpointReceiver | null;
  /** The URL at which clients reach this server: a log is named after it, and keeps its first name. */
  readonly issuer: string;
};

/** The name of a log. */
export const originOfLog = ({ origin }: LogState, issuer: string, tenant: string): string =>
  origin ?? firstOrigin(issuer, tenant);

/**
 * Refuses to sign a log that is shorter than what was published of it: its store is older, or somebody has cut it. Another checkpoint would fork it.
 * @throws Rejection LOG_BEHIND
 */
export const requireNotBehind = async (
  { checkpointReceiver, issuer }: Published,
  tenant: string,
  log: LogState,
): Promise<void> => {
  const origin = originOfLog(log, issuer, tenant);
  const published = (await checkpointReceiver?.lastSize(origin)) ?? 0;
  const size = log.last?.size ?? 0;
  if (published > size)
    throw new Rejection('LOG_BEHIND', {
      message: `The log ${origin} ends at size ${String(size)}, but a checkpoint of size ${String(published)} was published, so nothing is signed: the log was cut, or an older backup was restored. Restore the newer store. If it is lost, begin a new log: npx anima log restart --reason <text>`,
      details: { origin, size, published },
    });
};
