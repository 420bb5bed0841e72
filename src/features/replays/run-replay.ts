import type { CommandContext } from '../../kernel/base/command-context.js';
import { makeProcessId, parseProcessId } from '../../kernel/crypto/process-id.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { replayStream } from '../../kernel/base/stream-names.js';
import type { ReplayPlan } from './domain/events.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ProcessRuntime, ProcessRef } from '../../ports/process-runtime.js';
import { replay, type ReplayAnswer, type ReplayState } from '../../../workflows/replay.js';
import type { ProcessRepository } from '../../kernel/processes/process-repository.js';
import { parseCommandId } from '../../kernel/streams/command-id.js';

export type ReplayDeps = {
  readonly runtime: ProcessRuntime;
  readonly repository: ProcessRepository;
  readonly events: Pick<EventStore, 'lastPosition'>;
};

/** A requested replay. */
export type Replay = ReplayAnswer;

/** A replay, with its position in the global order. */
export type PositionedReplay = { readonly replay: Replay; readonly position: number };

const replayRef = (tenant: string, id: string): ProcessRef => ({
  process: replay.name,
  id,
  stream: replayStream(tenant, id),
});

/**
 * Accepts a replay, which then runs in the background. A repeat of the same command finds the same one.
 * @throws what the event store and ProcessRuntime.ask raise
 */
export const runReplay = async (
  { runtime, events }: Pick<ReplayDeps, 'runtime' | 'events'>,
  plan: Omit<ReplayPlan, 'upTo'>,
  by: CommandContext,
): Promise<PositionedReplay> => {
  const upTo = await events.lastPosition();
  // From the command alone: a repeat after a crash finds the replay that the first attempt began.
  const replayId = makeProcessId('r', 0, parseCommandId(by.commandId).timeMs, by.commandId);
  const request = { type: 'request', replayId, ...plan, upTo };
  const { answer, position } = await runtime.ask(replayRef(by.tenant, replayId), [request], by);
  return { replay: answer as ReplayAnswer, position };
};

/**
 * A replay of this tenant.
 * @param npcId if given, it must be a replay of this mind alone
 * @throws Rejection REPLAY_NOT_FOUND, and errors from the event store
 */
export const findReplay = async (
  { repository }: Pick<ReplayDeps, 'repository'>,
  tenant: string,
  { replayId, npcId }: { readonly replayId: string; readonly npcId?: string },
): Promise<ReplayAnswer> => {
  if (parseProcessId(replayId) === null) throw new Rejection('REPLAY_NOT_FOUND');
  const { state } = await repository.load(replay, replayRef(tenant, replayId));
  const known = state as ReplayState;
  if (known.name === 'new') throw new Rejection('REPLAY_NOT_FOUND');
  const isOfMind = known.npcIds?.length === 1 && known.npcIds[0] === npcId;
  if (npcId !== undefined && !isOfMind) throw new Rejection('REPLAY_NOT_FOUND');
  return known;
};

/** Cancels a replay; one that has ended does not change. @throws Rejection REPLAY_NOT_FOUND, and as ProcessRuntime.ask */
export const cancelReplay = async (
  deps: Pick<ReplayDeps, 'runtime' | 'repository'>,
  named: Parameters<typeof findReplay>[2],
  by: CommandContext,
): Promise<PositionedReplay> => {
  await findReplay(deps, by.tenant, named);
  const { answer, position } = await deps.runtime.ask(replayRef(by.tenant, named.replayId), [{ type: 'cancel' }], by);
  return { replay: answer as ReplayAnswer, position };
};
