import type { Clock } from '../../ports/clock.js';
import type { CheckpointReceiver } from '../../ports/checkpoint-receiver.js';
import type { EventStore } from '../../ports/event-store.js';
import type { CheckpointInput } from '../../../workflows/checkpoint.js';
import { type CheckpointAt, checkpointBefore, newestCheckpoint } from './log.js';

/** How far back checkpoints are looked for that were not handed on, and how many are handed on at once, the oldest first. */
const LOOKED_BACK = 1_000;
const AT_ONCE = 100;
/** After how long no further one is handed on, in milliseconds: a slow receiver must not hold up the log, and what it took is recorded. */
const HANDING_ON_MS = 15_000;

/** The checkpoints above a size, oldest first. */
const above = async (events: EventStore, tenant: string, size: number): Promise<readonly CheckpointAt[]> => {
  const found: CheckpointAt[] = [];
  let next = await newestCheckpoint(events, tenant);
  while (next !== null && next.size > size && found.length < LOOKED_BACK) {
    found.push(next);
    next = await checkpointBefore(events, tenant, next);
  }
  return found.reverse();
};

/** Hands on the checkpoints above a size. It fails only with the event store or the signal: a receiver that is away must not hold up the log. */
export const handOnCheckpoints = async (
  {
    events,
    receiver,
    clock,
  }: {
    readonly events: EventStore;
    readonly receiver: CheckpointReceiver | null;
    readonly clock: Pick<Clock, 'monotonicMs'>;
  },
  tenant: string,
  handedOn: number,
  signal: AbortSignal,
): Promise<Extract<CheckpointInput, { type: 'handedOn' }>> => {
  let upTo = handedOn;
  const endMs = clock.monotonicMs() + HANDING_ON_MS;
  for (const { note, size } of (await above(events, tenant, handedOn)).slice(0, AT_ONCE)) {
    if (clock.monotonicMs() >= endMs) return { type: 'handedOn', upTo, failed: 'the receiver is too slow for all' };
    try {
      if (receiver === null) throw new Error('nobody takes checkpoints any more');
      await receiver.handOn(note, signal);
    } catch (error) {
      signal.throwIfAborted();
      return { type: 'handedOn', upTo, failed: error instanceof Error ? error.message : String(error) };
    }
    upTo = size;
  }
  return { type: 'handedOn', upTo, failed: null };
};
