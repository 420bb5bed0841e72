import type {
  UpdateBatch,
  BatchedUpdate,
  BatchedReply,
  BatchReply,
} from '../../../workflows/temporal/process-batch.js';
import { BATCH_STEPS, BATCH_BYTES } from '../../kernel/processes/process-limits.js';
import type { Reply } from '../../kernel/processes/process-step.js';
import { jsonBytes } from '../../kernel/base/json.js';
import type { CommandContext } from '../../kernel/base/command-context.js';
import type { Clock } from '../../ports/clock.js';
import type { ProcessInput, ProcessRef } from '../../ports/process-runtime.js';
import { UPDATE_TIMEOUT_MS } from './step-update.js';
import { runtimeRefusal } from './runtime-refusal.js';
import type { ServerClock } from './server-clock.js';

/** The pause before an update answered `later` is sent again, in milliseconds: a slow step delays a batch for at most half of the time. */
export const LATER_PAUSE_MS = 300;

export type ShardUpdatesDeps = {
  /** Sends one batch to the shard's workflow. It may take longer than any caller waits: while no worker runs, a batch remains with the server. */
  readonly send: (batch: UpdateBatch) => Promise<BatchReply>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly serverClock: ServerClock;
};

type WaitingUpdate = {
  readonly ask: Pick<BatchedUpdate, 'ref' | 'inputs' | 'by'>;
  readonly bytes: number;
  readonly untilMs: number;
  isOver: boolean;
  readonly settle: (reply: Reply | Error) => void;
};

/**
 * The updates of this process to one shard. One batch is in progress at a time, and updates that arrive meanwhile go with the next one: a lone update
 * leaves immediately, and under load many travel for the price of one. Those of one process keep their order.
 */
export class ShardUpdateQueue {
  readonly #deps: ShardUpdatesDeps;
  /** In order. A caller that has stopped waiting is released immediately: a batch may be in progress for minutes. */
  readonly #queue = new Set<WaitingUpdate>();
  #isSending = false;

  constructor(deps: ShardUpdatesDeps) {
    this.#deps = deps;
  }

  /**
   * @param signal aborts when the caller stops waiting
   * @throws Error what the step threw; Rejection ENGINE_UNAVAILABLE after UPDATE_TIMEOUT_MS; what sending throws, and the reason of the signal
   */
  ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext, signal: AbortSignal): Promise<Reply> {
    const { clock } = this.#deps;
    return new Promise((resolve, reject) => {
      const late = (): void => waiting.settle(runtimeRefusal('ENGINE_UNAVAILABLE'));
      const cancel = clock.after(UPDATE_TIMEOUT_MS, late);
      const waiting: WaitingUpdate = {
        ask: { ref, inputs, by },
        bytes: jsonBytes({ ref, inputs, by }),
        untilMs: clock.monotonicMs() + UPDATE_TIMEOUT_MS,
        isOver: false,
        settle: (reply) => {
          waiting.isOver = true;
          this.#queue.delete(waiting);
          cancel();
          if (reply instanceof Error) reject(reply);
          else resolve(reply);
        },
      };
      const leave = (): void => waiting.settle(signal.reason as Error);
      if (signal.aborted) {
        leave();
        return;
      }
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.add(waiting);
      void this.#pump();
    });
  }

  async #pump(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) await this.#exchange(batch);
    this.#isSending = false;
  }

  /** The next batch. One update that is larger than a batch goes alone. */
  #take(): readonly WaitingUpdate[] {
    const batch: WaitingUpdate[] = [];
    let bytes = 0;
    for (const waiting of this.#queue) {
      bytes += waiting.bytes;
      if (batch.length === BATCH_STEPS || (bytes > BATCH_BYTES && batch.length > 0)) break;
      batch.push(waiting);
      this.#queue.delete(waiting);
    }
    return batch;
  }

  async #exchange(batch: readonly WaitingUpdate[]): Promise<void> {
    const { send, clock, serverClock } = this.#deps;
    const sentMs = clock.monotonicMs();
    const asks = batch.map(({ ask, untilMs }) => ({ ...ask, untilMs: serverClock.at(untilMs) }));
    try {
      const { atMs, replies } = await send({ asks, bytes: batch.reduce((sum, { bytes }) => sum + bytes, 0) });
      // An update that was late by the server's clock but not by the local one shows that the difference was wrong.
      if (batch.some(({ isOver }, at) => !isOver && isLate(replies[at]))) serverClock.reset();
      serverClock.note(sentMs, atMs);
      batch.forEach((waiting, at) => this.#settle(waiting, replies[at]));
    } catch (error) {
      for (const { settle } of batch) settle(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #settle(waiting: WaitingUpdate, reply: BatchedReply | undefined): void {
    if (waiting.isOver) return;
    if (reply === undefined) waiting.settle(new Error('the response of the batch does not contain this answer'));
    else if ('failed' in reply) waiting.settle(new Error(reply.failed));
    else if ('later' in reply) this.#askAgain(waiting, LATER_PAUSE_MS);
    else if ('late' in reply) this.#askAgain(waiting, 0);
    else waiting.settle(reply);
  }

  #askAgain(waiting: WaitingUpdate, inMs: number): void {
    this.#deps.clock.after(inMs, () => {
      if (waiting.isOver) return;
      this.#queue.add(waiting);
      void this.#pump();
    });
  }
}

const isLate = (reply: BatchedReply | undefined): boolean => reply !== undefined && 'late' in reply;
