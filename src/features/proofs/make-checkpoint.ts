import type { CommandContext } from '../../kernel/base/command-context.js';
import { makeProcessId } from '../../kernel/crypto/process-id.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { logStream } from '../../kernel/base/stream-names.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ProcessRuntime, ProcessRef } from '../../ports/process-runtime.js';
import { checkpoint, type CheckpointInput } from '../../../workflows/checkpoint.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { kindsBehind } from './domain/logged-streams.js';
import { busyAfter } from './busy-after.js';
import { extensionProblem } from './log-extension.js';
import type { News } from './news.js';
import { type CheckpointAt, newestCheckpoint } from './log.js';
import { requireMaySign, type MaySignDeps } from './not-behind.js';
import { logFold } from './log-fold.js';

/** How long a request waits for its checkpoint, in milliseconds; the round continues, and a repeat waits for it. */
const ROUND_WAIT_MS = 30_000;
/** When a request first looks why its round is not over, and how often it looks again, in milliseconds. */
const FIRST_LOOK_MS = 500;
const LOOK_MS = 5_000;
/** How often a request retries after another process was faster. */
const TRIES = 8;

export type MakeCheckpointDeps = MaySignDeps & {
  readonly runtime: ProcessRuntime;
  readonly writers: StreamWriters;
  readonly events: EventStore;
  readonly news: News;
  readonly clock: Pick<Clock, 'now'>;
};

const roundRef = (tenant: string, id: string): ProcessRef => ({
  process: checkpoint.name,
  id,
  stream: logStream(tenant),
});

/**
 * The current round, or a new one; null if nothing was written since the last.
 * @param found the position of the first event that the log lacks, if the caller has found it
 * @throws as `requireMaySign`; errors from the engine and the event store; Rejection CONFLICT if concurrent writers keep winning
 */
export const beginRound = async (
  deps: MakeCheckpointDeps,
  tenant: string,
  by: CommandContext,
  signal: AbortSignal,
  found?: number,
): Promise<ProcessRef | null> => {
  const { runtime, writers, events, clock } = deps;
  for (let tries = 0; tries < TRIES; tries += 1) {
    await requireMaySign(deps, tenant, signal);
    const { state: log, revision } = await writers.current(logStream(tenant), logFold);
    if (log.round !== null) return roundRef(tenant, log.round);
    const isBehind = kindsBehind(log.kinds).length > 0;
    const news = found !== undefined && found > log.through ? found : await deps.news(tenant, log.through, signal);
    const first = news ?? (isBehind ? log.through + 1 : null);
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
 * A round whose log was changed is retried, but cannot end before the log is repaired.
 * @throws Rejection LOG_CHANGED, and of the event store; as `requireMaySign`
 */
const requireSoundLog = async (deps: MakeCheckpointDeps, tenant: string, signal: AbortSignal): Promise<void> => {
  const { writers, events } = deps;
  await requireMaySign(deps, tenant, signal);
  const stream = logStream(tenant);
  const { state } = await writers.current(stream, logFold);
  const reason = await extensionProblem(events, stream, state);
  if (reason !== null) throw new Rejection('LOG_CHANGED', { details: { reason } });
};

/**
 * Makes a checkpoint now. Returns the last one if nothing was written since, and null before the first.
 * @throws Rejection BUSY if it takes longer than ROUND_WAIT_MS; as `requireSoundLog` once it takes longer than FIRST_LOOK_MS; as `beginRound`
 */
export const makeCheckpoint = (
  deps: MakeCheckpointDeps,
  tenant: string,
  by: CommandContext,
): Promise<CheckpointAt | null> =>
  busyAfter(ROUND_WAIT_MS, 'The checkpoint is still being made. Try again shortly.', async (signal) => {
    const ref = await beginRound(deps, tenant, by, signal);
    const ends = async (withinMs: number): Promise<boolean> =>
      ref === null || (await deps.runtime.outcome(ref, by, { withinMs })) !== null;
    for (let waitMs = FIRST_LOOK_MS; !(await ends(waitMs)); waitMs = LOOK_MS) {
      await requireSoundLog(deps, tenant, signal);
      signal.throwIfAborted();
    }
    return newestCheckpoint(deps.events, tenant);
  });
