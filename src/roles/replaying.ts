import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

import { type PartResult, type ReplayHand, type SliceTask, ThreadEnded } from '../features/replays/replay-part.js';
import type { ReplayHands } from '../features/replays/replay-slice.js';
import { noFindings, type ReplayFindings } from '../features/replays/domain/findings.js';
import { Rejection } from '../kernel/base/rejection.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { ReplaySource, ThreadReply, ThreadRequest } from './replay-messages.js';

/** The file of the thread. Tests run the sources directly. */
const entry = new URL(import.meta.url.endsWith('.ts') ? './replay-thread.ts' : './replay-thread.js', import.meta.url);

/** How long an idle thread is kept, in milliseconds. */
const IDLE_MS = 30_000;

type AwaitedCall = { readonly resolve: (done: never) => void; readonly reject: (error: Error) => void };

/** One thread that replays decisions. The first part starts it, and it ends after some time without work. */
class ReplayThread implements AsyncDisposable {
  readonly #source: ReplaySource;
  readonly #deps: { readonly clock: Pick<Clock, 'after'>; readonly log: Pick<Log, 'error'> };
  readonly #calls = new Map<number, AwaitedCall>();
  #worker: Worker | null = null;
  #lastCall = 0;
  #lastSlice = 0;
  #stopIdling: () => void = () => undefined;
  #isDisposed = false;

  constructor(source: ReplaySource, deps: { readonly clock: Pick<Clock, 'after'>; readonly log: Pick<Log, 'error'> }) {
    this.#source = source;
    this.#deps = deps;
  }

  begin(setting: SliceTask): ReplayHand {
    const slice = (this.#lastSlice += 1);
    /** The thread that has this slice. */
    let known: Worker | null = null;
    return {
      part: async (mind, signal) => {
        signal.throwIfAborted();
        const worker = this.#start();
        // The findings of an earlier thread for this slice are lost.
        if (known !== null && known !== worker) throw threadLost();
        if (known === null) this.#post(worker, { type: 'slice', slice, setting });
        known = worker;
        return this.#ask<PartResult>(worker, (call) => ({ type: 'part', slice, call, mind }), signal);
      },
      findings: () => {
        if (known === null) return Promise.resolve(noFindings);
        if (known !== this.#worker) return Promise.reject(threadLost());
        return this.#ask<ReplayFindings>(known, (call) => ({ type: 'findings', slice, call }));
      },
      drop: () => {
        if (known !== null && known === this.#worker) this.#post(known, { type: 'drop', slice });
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#end(new Rejection('NOT_READY', { retryAfter: 1 }));
  }

  #ask<Done>(worker: Worker, request: (call: number) => ThreadRequest, signal?: AbortSignal): Promise<Done> {
    const call = (this.#lastCall += 1);
    return new Promise<Done>((resolve, reject) => {
      const onAbort = (): void => {
        this.#post(worker, { type: 'abort', call });
        this.#settle(call)?.reject(signal?.reason as Error);
      };
      const left = (): void => signal?.removeEventListener('abort', onAbort);
      this.#calls.set(call, {
        resolve: (done: Done) => {
          left();
          resolve(done);
        },
        reject: (error: Error) => {
          left();
          reject(error);
        },
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#stopIdling();
      // The process stays alive for a reply, but not for an idle thread.
      worker.ref();
      this.#post(worker, request(call));
    });
  }

  #post(worker: Worker, request: ThreadRequest): void {
    worker.postMessage(request);
  }

  #start(): Worker {
    if (this.#isDisposed) throw new Rejection('NOT_READY', { retryAfter: 1 });
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(entry, { workerData: this.#source });
    worker.on('message', (reply: ThreadReply) => this.#answered(reply));
    worker.on('error', (error: Error) => this.#lost(worker, error.message));
    worker.on('exit', (code) => this.#lost(worker, `it exited with code ${String(code)}`));
    this.#worker = worker;
    return worker;
  }

  #answered(reply: ThreadReply): void {
    const waiting = this.#settle(reply.call);
    if (waiting === undefined) return;
    if ('done' in reply) waiting.resolve(reply.done as never);
    else if ('refused' in reply) {
      const { code, ...refusal } = reply.refused;
      waiting.reject(new Rejection(code, refusal));
    } else {
      this.#deps.log.error({ reason: reply.failed }, 'Failed to replay a decision');
      waiting.reject(new Error(reply.failed));
    }
  }

  /** Removes a waiting call; the thread is idle once there is none. */
  #settle(call: number): AwaitedCall | undefined {
    const waiting = this.#calls.get(call);
    this.#calls.delete(call);
    if (this.#calls.size > 0 || this.#worker === null) return waiting;
    this.#worker.unref();
    this.#stopIdling();
    this.#stopIdling = this.#deps.clock.after(IDLE_MS, () => void this.#end(threadLost()));
    return waiting;
  }

  #lost(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return;
    this.#deps.log.error({ reason }, 'A replay thread ended; the next slice restarts it');
    void this.#end(new ThreadEnded());
  }

  async #end(reason: Rejection): Promise<void> {
    this.#stopIdling();
    const worker = this.#worker;
    this.#worker = null;
    for (const call of [...this.#calls.keys()]) this.#settle(call)?.reject(reason);
    await worker?.terminate();
  }
}

const threadLost = (): Rejection => new Rejection('BUSY', { retryAfter: 1 });

/** The maximum number of threads by default. */
const MOST_BY_ITSELF = 8;

/**
 * Takes decisions again in threads of this process, each with its own reader of the events. On Linux they have a low priority, so that requests come
 * first however many threads there are.
 * @param count null: as many as there are cores
 */
export const openReplayThreads = (
  source: ReplaySource,
  count: number | null,
  deps: { readonly clock: Pick<Clock, 'after'>; readonly log: Pick<Log, 'error'> },
): ReplayHands & AsyncDisposable => {
  const threads = Array.from(
    { length: count ?? Math.min(availableParallelism(), MOST_BY_ITSELF) },
    () => new ReplayThread(source, deps),
  );
  return {
    begin: (slice) => threads.map((thread) => thread.begin(slice)),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(threads.map((thread) => thread[Symbol.asyncDispose]()));
    },
  };
};
