import { setMaxListeners } from 'node:events';

import { pause } from '../../concurrency/pause.js';
import { withTimeLimit } from '../../concurrency/time-limit.js';
import { calibrated } from '../../domain/memory/calibrated.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { EMBED_TEXTS, type Embedder, TextRefused } from '../../ports/embedder.js';
import type { EmbedderChoice } from '../../ports/embedder-choice.js';
import { backoffMs } from '../shared/backoff.js';
import { checkEmbedCall } from '../shared/embed-call.js';
import type { EmbedderDeps } from './deps.js';
import { EmbeddingsFailure, requestEmbeddings } from './embeddings-request.js';
import { meanOf, windowsOf } from './windows.js';

/** How many calls may be under way. */
const CALLS = 256;
/** How long one call may take in all, in milliseconds: a request that recalls answers within 2 s (contract 1.5). */
const URGENT_MS = 1_800;
const CALL_MS = 60_000;
/** How long one try of a call that is not urgent may take, in milliseconds. */
const TRY_MS = 20_000;
const TRIES = 4;
/** The pause after the first failure, in milliseconds (`backoffMs`). */
const FIRST_PAUSE_MS = 200;
/** If a server wants to be left alone for longer, the call fails, in milliseconds. */
const LONGEST_PAUSE_MS = 10_000;
/** Many servers refuse texts of more than 512 tokens. */
const WINDOW_BYTES = 1_500;

export type ApiChoice = EmbedderChoice & { readonly kind: 'api' };

const unavailable = (): Rejection => new Rejection('EMBEDDER_UNAVAILABLE', { retryAfter: 1 });

/**
 * An OpenAI-compatible server as the embedder. Its id names the model, not the server: the same model elsewhere makes the same vectors. Each text is
 * part of a request with others, and a server may then differ in the last digits.
 */
export class ApiEmbedder implements Embedder {
  readonly id: string;
  readonly #choice: ApiChoice;
  readonly #deps: EmbedderDeps;
  readonly #disposing = new AbortController();
  #calls = 0;
  #dimensions: number | null = null;
  /** Why the last request failed; null after one that did not. */
  #failing: string | null = null;

  constructor(choice: ApiChoice, deps: EmbedderDeps) {
    this.id = `api:${choice.model}@1`;
    this.#choice = choice;
    this.#deps = deps;
    // Each call listens to it.
    setMaxListeners(0, this.#disposing.signal);
  }

  async embed(
    texts: readonly string[],
    { urgent, signal }: { readonly urgent: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly (Float32Array | null)[]> {
    checkEmbedCall(texts, signal);
    if (this.#disposing.signal.aborted) throw unavailable();
    if (this.#calls >= CALLS) throw new Rejection('BUSY', { retryAfter: 1 });
    const windows = texts.map((text) => windowsOf(text, WINDOW_BYTES));
    const all = windows.flat();
    const vectors: Float32Array[] = [];
    this.#calls += 1;
    try {
      await this.#within(urgent ? URGENT_MS : CALL_MS, signal, async (limited) => {
        for (let from = 0; from < all.length; from += EMBED_TEXTS)
          vectors.push(...(await this.#vectorsOf(all.slice(from, from + EMBED_TEXTS), limited)));
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof EmbeddingsFailure)) throw error;
      this.#tell(error.message);
      throw error.ofText ? new TextRefused() : unavailable();
    } finally {
      this.#calls -= 1;
    }
    let from = 0;
    return windows.map(({ length }) => meanOf(vectors.slice(from, (from += length))));
  }

  down(): string | null {
    return this.#failing === null ? null : `The embedder does not answer, or refuses us: ${this.#failing}.`;
  }

  score(cosine: number): number {
    return calibrated(cosine, this.#choice.related);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposing.abort(unavailable());
  }

  /** @throws EmbeddingsFailure, or the reason of the signal */
  async #vectorsOf(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#try(texts, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof EmbeddingsFailure) || !error.passing || tries >= TRIES) throw error;
        const pauseMs = error.waitMs ?? backoffMs(this.#deps.random, FIRST_PAUSE_MS, tries);
        if (pauseMs > LONGEST_PAUSE_MS) throw error;
        await pause(this.#deps.clock, pauseMs, signal);
        signal.throwIfAborted();
      }
    }
  }

  async #try(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const embeddings = await this.#within(TRY_MS, signal, (limited) => requestEmbeddings(this.#choice, texts, limited));
    const dimensions = embeddings[0]?.length ?? 0;
    this.#dimensions ??= dimensions;
    if (dimensions !== this.#dimensions) {
      throw new EmbeddingsFailure('its vectors have another length than before', { passing: false });
    }
    if (this.#failing !== null) {
      this.#deps.log.info({ embedder: this.id }, 'the embedder answers again');
      this.#failing = null;
    }
    return embeddings.map((embedding) => Float32Array.from(embedding));
  }

  #within<T>(ms: number, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = (): Error => new EmbeddingsFailure(`no answer within ${ms} ms`, { passing: true });
    return withTimeLimit(this.#deps.clock, { ms, late, signal, closing: this.#disposing.signal }, work);
  }

  #tell(reason: string): void {
    if (reason === this.#failing) return;
    this.#failing = reason;
    this.#deps.log.warn({ embedder: this.id, reason }, 'the embedder does not answer, or refuses us');
  }
}
