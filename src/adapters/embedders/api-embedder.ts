import { setMaxListeners } from 'node:events';

import { LRUCache } from 'lru-cache';

import { untilFull } from '../../kernel/base/page-size.js';
import { pause } from '../../kernel/concurrency/pause.js';
import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import { calibrated } from '../../ports/calibrated.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { EMBED_TEXTS, type Embedder, TextRefused } from '../../ports/embedder.js';
import type { EmbedderChoice } from '../../ports/embedder-choice.js';
import { backoffMs } from '../shared/backoff.js';
import { boundedText } from '../shared/bounded-text.js';
import { checkEmbedCall } from '../shared/embed-call.js';
import type { EmbedderDeps } from './deps.js';
import { meanOf, windowsOf } from './windows.js';

/** The maximum number of calls in progress. */
const CALLS = 256;
/** Total time limit of one call, in milliseconds: a request that recalls has to answer within 2 s. */
const URGENT_MS = 1_800;
const CALL_MS = 60_000;
/** The timeout of one try of a call that is not urgent, in milliseconds. */
const TRY_MS = 20_000;
const TRIES = 4;
/** The pause after the first failure, in milliseconds (`backoffMs`). */
const FIRST_PAUSE_MS = 200;
/** If a server requests a longer pause, in milliseconds, the call fails. */
const LONGEST_PAUSE_MS = 10_000;
/** A request ends with the text with which it reaches this many bytes of UTF-8. */
const REQUEST_BYTES = 16_384;
/** After this many responses in a row that took less than QUICK_MS, requests may have twice as many texts. */
const QUICK_RESPONSES = 8;
const QUICK_MS = TRY_MS / 4;
/** How many vectors of calls that failed later are kept: a repeated call continues from there. */
const VECTORS_KEPT = 1_024;
/** Many servers refuse texts of more than 512 tokens. */
const WINDOW_BYTES = 1_500;

export type ApiChoice = EmbedderChoice & { readonly kind: 'api' };

const unavailable = (): Rejection => new Rejection('EMBEDDER_UNAVAILABLE', { retryAfter: 1 });

/** Where vectors are requested, from which model, and with which key. */
type EmbeddingsApi = { readonly url: string; readonly model: string; readonly key: string | null };

/** The maximum size of an answer that is read, in bytes: 64 vectors of 8,192 numbers are smaller. */
const ANSWER_BYTES = 16 * 1_048_576;

/** A request that returned no vectors. Its message holds nothing that the server sent, which may repeat the key. */
class EmbeddingsFailure extends Error {
  /** Whether another try may succeed. */
  readonly passing: boolean;
  /** Whether the server refused this input, and works otherwise. */
  readonly ofText: boolean;
  /** Whether the server did not answer in time. */
  readonly isLate: boolean;
  /** How long the server asks the client to wait, in milliseconds. */
  readonly waitMs: number | null;

  constructor(
    reason: string,
    {
      passing,
      ofText = false,
      isLate = false,
      waitMs = null,
    }: { passing: boolean; ofText?: boolean; isLate?: boolean; waitMs?: number | null },
  ) {
    super(reason);
    this.isLate = isLate;
    this.name = 'EmbeddingsFailure';
    this.passing = passing;
    this.ofText = ofText;
    this.waitMs = waitMs;
  }
}

/**
 * The vectors of these texts, unchanged, from `POST <url>/embeddings` of an OpenAI-compatible server.
 * @throws EmbeddingsFailure, or the reason of the signal
 */
const requestEmbeddings = async (
  { url, model, key }: EmbeddingsApi,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly (readonly number[])[]> => {
  try {
    const answer = await fetch(`${url}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
      // The key is for this address alone.
      redirect: 'manual',
      signal,
    });
    if (!answer.ok) {
      await answer.body?.cancel();
      throw refused(answer);
    }
    const text = await boundedText(answer, ANSWER_BYTES);
    if (text === null) throw wrong(`its response is longer than ${String(ANSWER_BYTES)} bytes`);
    return embeddingsOf(text, texts.length);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EmbeddingsFailure) throw error;
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
    throw new EmbeddingsFailure(typeof code === 'string' ? code : 'the connection failed', { passing: true });
  }
};

const refused = ({ status, headers }: Response): EmbeddingsFailure => {
  const seconds = headers.get('retry-after') ?? '';
  return new EmbeddingsFailure(`HTTP ${String(status)}`, {
    passing: status === 408 || status === 429 || status >= 500,
    ofText: status === 400 || status === 413 || status === 422,
    waitMs: /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : null,
  });
};

const wrong = (reason: string): EmbeddingsFailure => new EmbeddingsFailure(reason, { passing: false });

const embeddingsOf = (text: string, count: number): readonly (readonly number[])[] => {
  const items = itemsOf(text);
  if (items?.length !== count) throw wrong('its response does not have one embedding per text');
  const placed = new Array<readonly number[] | undefined>(count).fill(undefined);
  for (const [at, item] of items.entries()) {
    const { index = at, embedding } = (item ?? {}) as { readonly index?: unknown; readonly embedding?: unknown };
    if (typeof index === 'number' && index in placed && isVector(embedding)) placed[index] = embedding;
  }
  const [first] = placed;
  return placed.map((embedding) => {
    if (embedding === undefined) throw wrong('its response contains something other than vectors');
    if (embedding.length !== first?.length) throw wrong('its response has vectors of different lengths');
    return embedding;
  });
};

const itemsOf = (text: string): readonly unknown[] | null => {
  try {
    const { data } = JSON.parse(text) as { readonly data?: unknown };
    return Array.isArray(data) ? data : null;
  } catch {
    return null;
  }
};

const isVector = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((number) => Number.isFinite(number));

/**
 * An OpenAI-compatible server as the embedder. Its id names the model, not the server: the same model elsewhere makes the same vectors. Each text is
 * part of a request with others, and a server may then differ in the last digits. A request that got no answer in time is halved, and so are those
 * after it, until the server answers quickly again.
 */
export class ApiEmbedder implements Embedder {
  readonly id: string;
  readonly #choice: ApiChoice;
  readonly #deps: EmbedderDeps;
  readonly #disposing = new AbortController();
  #calls = 0;
  readonly #kept = new LRUCache<string, Float32Array>({ max: VECTORS_KEPT });
  /** How many texts a request may have. */
  #most = EMBED_TEXTS;
  #quick = 0;
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
    const vectors = new Map<string, Float32Array>();
    this.#calls += 1;
    try {
      await this.#within(urgent ? URGENT_MS : CALL_MS, signal, (limited) => this.#fill(vectors, all, limited));
    } catch (error) {
      for (const [text, vector] of vectors) this.#kept.set(text, vector);
      signal?.throwIfAborted();
      if (!(error instanceof EmbeddingsFailure)) throw error;
      this.#tell(error.message);
      throw error.ofText ? new TextRefused() : unavailable();
    } finally {
      this.#calls -= 1;
    }
    let from = 0;
    const made = all.map((text) => vectors.get(text) ?? new Float32Array());
    return windows.map(({ length }) => meanOf(made.slice(from, (from += length))));
  }

  down(): string | null {
    return this.#failing === null ? null : `The embedder is unavailable or rejects requests: ${this.#failing}.`;
  }

  score(cosine: number): number {
    return calibrated(cosine, this.#choice.related);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposing.abort(unavailable());
  }

  /** Adds the vectors of all texts, request by request. @throws EmbeddingsFailure, or the reason of the signal */
  async #fill(vectors: Map<string, Float32Array>, all: readonly string[], signal: AbortSignal): Promise<void> {
    for (const text of all) {
      const kept = this.#kept.get(text);
      if (kept !== undefined) vectors.set(text, kept);
    }
    for (;;) {
      const left = [...new Set(all)].filter((text) => !vectors.has(text));
      if (left.length === 0) return;
      const texts = [...untilFull(left.slice(0, this.#most), (text) => Buffer.byteLength(text), REQUEST_BYTES)];
      try {
        const made = await this.#vectorsOf(texts, signal);
        for (const [at, vector] of made.entries()) vectors.set(texts[at] ?? '', vector);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof EmbeddingsFailure) || !error.isLate || texts.length === 1) throw error;
        this.#most = Math.ceil(texts.length / 2);
        this.#quick = 0;
      }
    }
  }

  /** @throws EmbeddingsFailure, or the reason of the signal */
  async #vectorsOf(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#try(texts, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof EmbeddingsFailure) || !error.passing || tries >= TRIES) throw error;
        // The same texts would take as long again.
        if (error.isLate && texts.length > 1) throw error;
        const pauseMs = error.waitMs ?? backoffMs(this.#deps.random, FIRST_PAUSE_MS, tries);
        if (pauseMs > LONGEST_PAUSE_MS) throw error;
        await pause(this.#deps.clock, pauseMs, signal);
        signal.throwIfAborted();
      }
    }
  }

  async #try(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const startMs = this.#deps.clock.monotonicMs();
    const embeddings = await this.#within(TRY_MS, signal, (limited) => requestEmbeddings(this.#choice, texts, limited));
    const dimensions = embeddings[0]?.length ?? 0;
    this.#dimensions ??= dimensions;
    if (dimensions !== this.#dimensions) {
      throw new EmbeddingsFailure('the length of its vectors has changed', { passing: false });
    }
    this.#quick = this.#deps.clock.monotonicMs() - startMs < QUICK_MS ? this.#quick + 1 : 0;
    if (this.#quick >= QUICK_RESPONSES) {
      this.#most = Math.min(EMBED_TEXTS, 2 * this.#most);
      this.#quick = 0;
    }
    if (this.#failing !== null) {
      this.#deps.log.info({ embedder: this.id }, 'Embedder is available again');
      this.#failing = null;
    }
    return embeddings.map((embedding) => Float32Array.from(embedding));
  }

  #within<T>(ms: number, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = (): Error => new EmbeddingsFailure(`no response within ${ms} ms`, { passing: true, isLate: true });
    return withTimeLimit(this.#deps.clock, { ms, late, signal, closing: this.#disposing.signal }, work);
  }

  #tell(reason: string): void {
    if (reason === this.#failing) return;
    this.#failing = reason;
    this.#deps.log.warn({ embedder: this.id, reason }, 'Embedder is unavailable or rejects requests');
  }
}
