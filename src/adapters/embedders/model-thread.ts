import { Worker } from 'node:worker_threads';

import { LRUCache } from 'lru-cache';

import { Rejection } from '../../kernel/base/rejection.js';
import { TextRefused } from '../../ports/embedder.js';
import type { EmbedderDeps } from './deps.js';

/** The thread that runs models. */
export const threadFile = new URL('./run-model.mjs', import.meta.url);

/** How many calls may wait. */
const WAITING_CALLS = 256;
/** The timeout of one text, and of loading the model before it, in milliseconds; afterwards the thread counts as hung. */
const TEXT_MS = 60_000;
/** The timeout of an urgent call, waiting included, in milliseconds: a caller waits for its answer. */
const URGENT_MS = 10_000;
/** How long a thread that could not load its model counts as unable to, in milliseconds. */
const LOAD_AGAIN_MS = 10_000;
/** After this many texts of urgent calls in a row, one of another call is processed: otherwise continuous recalls would starve the background. */
const URGENT_IN_A_ROW = 4;
/** How many vectors of abandoned calls are kept: a repeated call continues from there. */
const VECTORS_KEPT = 1_024;
/** How often a text is given to a thread that dies while processing it. */
const TRIES = 2;

/** The message of a thread for a text, or one message instead of all answers. */
export type ThreadAnswer = { readonly vector: Float32Array } | { readonly error: string } | { readonly failed: string };

/** The vectors of texts whose calls were abandoned before they were complete; threads of one model share them. */
export type ResumedVectors = LRUCache<string, Float32Array>;
export const resumedVectors = (): ResumedVectors => new LRUCache({ max: VECTORS_KEPT });

type ThreadDeps = {
  readonly clock: EmbedderDeps['clock'];
  readonly log: Pick<EmbedderDeps['log'], 'error'>;
  readonly kept: ResumedVectors;
};

type ThreadCall = {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  /** How often its present text was given to a thread. */
  tries: number;
  resolve(vectors: readonly Float32Array[]): void;
  reject(error: unknown): void;
};

/** How many of its texts have no vector yet. */
const leftIn = ({ texts, vectors }: ThreadCall): number => texts.length - vectors.length;

const unavailable = (): Rejection => new Rejection('EMBEDDER_UNAVAILABLE', { retryAfter: 1 });
const busy = (): Rejection => new Rejection('BUSY', { retryAfter: 1 });
const textRefused = (): Rejection => new TextRefused();

/**
 * A model in a separate thread, which is started by the first call. The thread gets one text at a time, so an urgent call waits for one text of those
 * that are not, and for another one after each four of its own; no text's vector depends on its neighbours. Of the urgent calls, the one with the
 * fewest texts left goes first: a long one does not delay a short one, and waits for URGENT_MS at most. A thread that ends or hangs is started again,
 * and its text is repeated once.
 */
export class ModelThread implements AsyncDisposable {
  readonly #entry: string | URL;
  readonly #data: unknown;
  readonly #deps: ThreadDeps;
  readonly #urgent: ThreadCall[] = [];
  readonly #others: ThreadCall[] = [];
  #worker: Worker | null = null;
  /** The call whose text the thread has. */
  #running: ThreadCall | null = null;
  #stopWaiting: () => void = () => undefined;
  /** How many texts of urgent calls the thread got since it last had one of another call. */
  #urgentInARow = 0;
  /** How many texts were answered, with or without a vector. */
  #answers = 0;
  /** When the model could not be loaded. */
  #failedMs = -Infinity;
  #disposed = false;

  /** @param entry the thread's file @param data which model the thread loads */
  constructor(entry: string | URL, data: unknown, deps: ThreadDeps) {
    this.#entry = entry;
    this.#data = data;
    this.#deps = deps;
  }

  /** The vectors of these texts, in their order. @throws TextRefused, Rejection EMBEDDER_UNAVAILABLE or BUSY, and the reason of the signal */
  vectorsOf(
    texts: readonly string[],
    { urgent, signal }: { readonly urgent: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly Float32Array[]> {
    if (this.#disposed) return Promise.reject(unavailable());
    const kept = this.#keptOf(texts);
    if (kept.length === texts.length) return Promise.resolve(kept);
    if (this.#urgent.length + this.#others.length >= WAITING_CALLS) {
      return Promise.reject(busy());
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        for (const line of [this.#urgent, this.#others]) if (line.includes(call)) line.splice(line.indexOf(call), 1);
        signal?.removeEventListener('abort', onAbort);
        stopWaiting();
      };
      const call: ThreadCall = {
        texts,
        vectors: kept,
        tries: 0,
        resolve: (vectors) => {
          leave();
          resolve(vectors);
        },
        reject: (error: Error) => {
          leave();
          for (const [at, vector] of call.vectors.entries()) this.#deps.kept.set(texts[at] ?? '', vector);
          reject(error);
        },
      };
      const onAbort = (): void => call.reject(signal?.reason as Error);
      const before = this.#answers;
      // A thread that hangs, or loads its model for this long, counts as unavailable.
      const onLate = (): void => call.reject(this.#answers === before ? unavailable() : busy());
      const stopWaiting = urgent ? this.#deps.clock.after(URGENT_MS, onLate) : () => undefined;
      signal?.addEventListener('abort', onAbort, { once: true });
      (urgent ? this.#urgent : this.#others).push(call);
      this.#goOn();
    });
  }

  /** How many texts it has or will get from the waiting calls. */
  get waitingTexts(): number {
    return [...this.#urgent, ...this.#others].reduce((sum, call) => sum + leftIn(call), 0);
  }

  /** Whether it recently failed to load its model. */
  get cannotLoad(): boolean {
    return this.#deps.clock.monotonicMs() - this.#failedMs < LOAD_AGAIN_MS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#stop();
    this.#refuseAll();
    await this.#end();
  }

  /** Gives the thread its next text, if it has none and there is one. */
  #goOn(): void {
    if (this.#running !== null || this.#disposed) return;
    const call = this.#next();
    // The result of a call that was abandoned while the thread had it exists by now.
    if (call !== undefined) call.vectors.push(...this.#keptOf(call.texts, call.vectors.length));
    const text = call?.texts[call.vectors.length];
    if (call === undefined) {
      this.#worker?.unref();
      return;
    }
    if (text === undefined) {
      call.resolve(call.vectors);
      this.#goOn();
      return;
    }
    const worker = (this.#worker ??= this.#start());
    call.tries += 1;
    this.#urgentInARow = this.#urgent.includes(call) ? this.#urgentInARow + 1 : 0;
    this.#running = call;
    this.#stopWaiting = this.#deps.clock.after(TEXT_MS, () => {
      this.#lost(worker, `no response within ${String(TEXT_MS)} ms`, unavailable);
    });
    // The process waits for its answer, but not for an idle thread.
    worker.ref();
    worker.postMessage(text);
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { workerData: this.#data });
    worker.on('message', (answer: ThreadAnswer) => {
      if (worker === this.#worker) this.#answered(answer);
    });
    worker.on('error', (error: Error) => {
      this.#lost(worker, error.message, textRefused);
    });
    worker.on('exit', (code) => {
      this.#lost(worker, `it exited with code ${String(code)}`, textRefused);
    });
    return worker;
  }

  #answered(answer: ThreadAnswer): void {
    const call = this.#stop();
    if ('failed' in answer) {
      this.#failedMs = this.#deps.clock.monotonicMs();
      this.#deps.log.error({ reason: answer.failed }, 'Cannot load the embedder; refusing the texts of this thread');
      this.#refuseAll();
      void this.#end();
      return;
    }
    this.#answers += 1;
    if ('error' in answer) {
      this.#deps.log.error({ reason: answer.error }, 'The embedder failed to embed a text');
      call?.reject(textRefused());
    } else if (call !== null && ![this.#urgent, this.#others].some((line) => line.includes(call))) {
      // The call was abandoned meanwhile.
      this.#deps.kept.set(call.texts[call.vectors.length] ?? '', answer.vector);
    } else if (call !== null) {
      call.vectors.push(answer.vector);
      call.tries = 0;
      if (leftIn(call) === 0) call.resolve(call.vectors);
    }
    this.#goOn();
  }

  /** The vectors of the texts from `from` on that were made for an abandoned call. */
  #keptOf(texts: readonly string[], from = 0): Float32Array[] {
    const vectors: Float32Array[] = [];
    for (let at = from; at < texts.length; at += 1) {
      const vector = this.#deps.kept.get(texts[at] ?? '');
      if (vector === undefined) break;
      vectors.push(vector);
    }
    return vectors;
  }

  #next(): ThreadCall | undefined {
    const [other] = this.#others;
    return other !== undefined && this.#urgentInARow >= URGENT_IN_A_ROW ? other : (this.#shortest() ?? other);
  }

  /** The urgent call with the fewest texts left, the first of several. */
  #shortest(): ThreadCall | undefined {
    return this.#urgent.reduce<ThreadCall | undefined>(
      (best, call) => (best === undefined || leftIn(call) < leftIn(best) ? call : best),
      undefined,
    );
  }

  /** The thread ended or hangs. @param refusal of a text over which this happened too often */
  #lost(worker: Worker, reason: string, refusal: () => Rejection): void {
    if (worker !== this.#worker) return;
    const call = this.#stop();
    void this.#end();
    this.#deps.log.error({ reason }, 'The embedder thread ended; the next text restarts it');
    if (call !== null && call.tries >= TRIES) call.reject(refusal());
    this.#goOn();
  }

  /** Stops waiting for the thread. Returns the call whose text it had. */
  #stop(): ThreadCall | null {
    this.#stopWaiting();
    const call = this.#running;
    this.#running = null;
    return call;
  }

  #refuseAll(): void {
    for (const call of [...this.#urgent, ...this.#others]) call.reject(unavailable());
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }
}
