import { nameCount, firstOrigin } from './domain/origin.js';
import type { LogState } from './domain/state.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { logStream } from '../../kernel/base/stream-names.js';
import type { EventChecks } from '../../kernel/streams/event-checks.js';
import { eventAt } from '../../kernel/streams/stream-pages.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import type { CheckpointReceiver, KeptCheckpoint } from '../../ports/checkpoint-receiver.js';
import { checkpointOfSize, type LogReads } from './log.js';
import { logFold } from './log-fold.js';

/** What checkpoints are compared with before one is signed. */
export type Published = {
  /** The external receiver of checkpoints; null if there is none. */
  readonly checkpointReceiver: CheckpointReceiver | null;
  /** The URL at which clients reach this server: a log is named after it, and keeps its first name. */
  readonly issuer: string;
};

export type MaySignDeps = Published & {
  readonly writers: Pick<StreamWriters, 'current'>;
  readonly events: LogReads;
  readonly checks: Pick<EventChecks, 'requireWhole'>;
};

/** The name of a log. */
export const originOfLog = ({ origin }: LogState, issuer: string, tenant: string): string =>
  origin ?? firstOrigin(issuer, tenant);

/** Whether an operator has renamed the log on a server with the secret: only that ends what was published under the names before. */
const isRestarted = async (events: LogReads, tenant: string, { restarted }: LogState): Promise<boolean> =>
  restarted !== null && (await eventAt(events, logStream(tenant), restarted))?.meta.mac !== undefined;

/** How a log differs from what was published of it, as a part of a sentence; null if it continues that. */
const difference = async (
  events: LogReads,
  tenant: string,
  log: LogState,
  origin: string,
  kept: KeptCheckpoint,
): Promise<string | null> => {
  const countOf = nameCount(origin);
  const [own, other] = [countOf(origin) ?? 1, countOf(kept.origin) ?? 1];
  const published = `a checkpoint of size ${String(kept.size)} was published`;
  if (other > own) return `${published} under the later name ${kept.origin}`;
  if (other < own && (await isRestarted(events, tenant, log))) return null;
  if (kept.size > (log.last?.size ?? 0)) return published;
  const same = log.last?.size === kept.size ? log.last : await checkpointOfSize(events, tenant, kept.size);
  return same?.root === kept.root ? null : `${published} with another root`;
};

/** What the receiver keeps; a text if that cannot be read, which says why. */
const askReceiver = async (
  receiver: CheckpointReceiver,
  origin: string,
): Promise<KeptCheckpoint | 'missing' | null | { readonly unread: string }> => {
  try {
    return await receiver.lastKept(nameCount(origin));
  } catch (error) {
    return { unread: error instanceof Error ? error.message : String(error) };
  }
};

/**
 * Refuses to sign a log that does not continue what was published of it: its store is older, or somebody has changed it. Another checkpoint would fork
 * it. What was published and cannot be read is no reason to sign.
 */
const requireContinues = async (
  { checkpointReceiver, events, writers, issuer }: MaySignDeps,
  tenant: string,
): Promise<void> => {
  if (checkpointReceiver === null) return;
  const state = async (): Promise<LogState> => (await writers.current(logStream(tenant), logFold)).state;
  const origin = originOfLog(await state(), issuer, tenant);
  const kept = await askReceiver(checkpointReceiver, origin);
  // Read after the receiver: another process may have signed and published meanwhile.
  const log = await state();
  const size = log.last?.size ?? 0;
  const refusal = (published: number, why: string): Rejection =>
    new Rejection('LOG_BEHIND', {
      message: `The log ${origin} ends at size ${String(size)}, but ${why}`,
      details: { origin, size, published },
    });
  if (kept === null || (kept === 'missing' && log.handedOn === 0)) return;
  if (kept === 'missing')
    throw refusal(
      log.handedOn,
      `checkpoints up to size ${String(log.handedOn)} were published, and the file of ANIMA_CHECKPOINT_URL is missing, so nothing is signed. Put it back. If it is to be a new file, create it empty.`,
    );
  if ('unread' in kept)
    throw refusal(
      log.handedOn,
      `what was published cannot be read from the file of ANIMA_CHECKPOINT_URL, so nothing is signed: ${kept.unread}.`,
    );
  const why = await difference(events, tenant, log, origin, kept);
  if (why !== null)
    throw refusal(
      kept.size,
      `${why}, so nothing is signed: the log was cut or changed, or an older backup was restored. Restore the newer store. If it is lost, begin a new log: npx anima log restart --reason <text>`,
    );
};

/**
 * Requires that a log may be signed: each of its events is what a server recorded, and it continues what was published of it.
 * @throws Rejection CHAIN_BROKEN, LOG_BEHIND; the reason of the signal; errors from the event store
 */
export const requireMaySign = async (deps: MaySignDeps, tenant: string, signal: AbortSignal): Promise<void> => {
  const stream = logStream(tenant);
  const { revision } = await deps.writers.current(stream, logFold);
  if (revision >= 0) await deps.checks.requireWhole(stream, revision, signal);
  await requireContinues(deps, tenant);
};
