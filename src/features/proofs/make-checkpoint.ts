import type { CommandContext } from '../../kernel/base/command-context.js';
import { makeProcessId } from '../../kernel/crypto/process-id.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { logStream } from '../../kernel/base/stream-names.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ProcessRuntime, ProcessRef } from '../../ports/process-runtime.js';
import { checkpoint, type CheckpointInput } from '../../../workflows/checkpoint.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { firstNews } from './gather-heads.js';
import { type CheckpointAt, newestCheckpoint } from './log.js';
import { logFold } from './log-fold.js';

/** How long a request waits for its checkpoint, in milliseconds; the round continues, and a repeat waits for it. */
const ROUND_WAIT_MS = 30_000;
/** How often a request retries after another process was faster. */
const TRIES = 8;

export type MakeCheckpointDeps = {
  readonly runtime: ProcessRuntime;
  readonly writers: StreamWriters;
  readonly events: EventStore;
  readonly clock: Pick<Clock, 'now'>;
};

const roundRef = (tenant: string, id: string): ProcessRef => ({
  process: checkpoint.name,
  id,
  stream: logStream(tenant),
});

/**
 * The current round, or a new one; null if nothing was written since the last.
 * @param news the position of the first event that the log lacks, if the caller has found it
 * @throws errors from the engine and the event store; Rejection CONFLICT if concurrent writers keep winning
 */
export const beginRound = async (
  { runtime, writers, events, clock }: MakeCheckpointDeps,
  tenant: string,
  by: CommandContext,
  news?: number,
): Promise<ProcessRef | null> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { state: log, revision } = await writers.current(logStream(tenant), logFold);
    if (log.round !== null) return roundRef(tenant, log.round);
    const first = news !== undefined && news > log.through ? news : await firstNews(events, tenant, log.through);
    if (first === null) return null;
    const roundId = makeProcessId('k', revision + 1, clock.now().getTime(), `${by.commandId} ${String(tries)}`);
    const ref = roundRef(tenant, roundId);
    const request: CheckpointInput = { type: 'request', roundId, news: first, until: await events.lastPosition() };
    try {
      await runtime.ask(ref, [request], by);
      return ref;
    } catch (error) {
      if (!(error instanceof Rejection) || error.code !== 'CONFLICT') throw error;
    }
  }
  throw new Rejection('CONFLICT', { retryAfter: 1 });
};

/**
 * Makes a checkpoint now. Returns the last one if nothing was written since, and null before the first.
 * @throws Rejection BUSY if it takes longer than ROUND_WAIT_MS; as `beginRound`
 */
export const makeCheckpoint = async (
  deps: MakeCheckpointDeps,
  tenant: string,
  by: CommandContext,
): Promise<CheckpointAt | null> => {
  const ref = await beginRound(deps, tenant, by);
  if (ref !== null) {
    const outcome = await deps.runtime.outcome(ref, by, { withinMs: ROUND_WAIT_MS });
    if (outcome === null)
      throw new Rejection('BUSY', { message: 'The checkpoint is still being made. Try again shortly.', retryAfter: 1 });
  }
  return newestCheckpoint(deps.events, tenant);
};
