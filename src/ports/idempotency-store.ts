import type { Json } from '../kernel/base/json.js';

/** A stored response for retries: the status, its headers, and the body. */
export type StoredAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
};

/** A request under an Idempotency-Key. `scope` names API key, method and concrete path; `digest` the request body. */
export type KeyedRequest = {
  readonly tenant: string;
  readonly scope: string;
  readonly key: string;
  readonly digest: string;
};

export type Reservation =
  /**
   * This caller runs the request. `seed` is the same for every attempt: every id that the request makes is derived from it. `resumed`: an earlier
   * attempt may have had an effect, and its answer is missing. `done`: an earlier attempt was completed, and only its answer is missing.
   */
  | { readonly kind: 'run'; readonly seed: string; readonly resumed: boolean; readonly done: boolean }
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  | { readonly kind: 'running' }
  | { readonly kind: 'reused' };

/**
 * How long an answer is kept: as long as its key; while the tenant's answers fit into their budget of bytes, the oldest being dropped first; or not
 * at all. Without an answer the same request runs again, under the first seed, with `done` set.
 */
export type AnswerRetention = 'always' | 'within-budget' | 'never';

/** The default budget for the answers of one tenant, in bytes (ANIMA_KEPT_ANSWERS_MB). */
export const STORED_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Idempotency keys. A reservation is durable (flushed) before `reserve` resolves, so a repeat after a crash finds its seed. `running`
 * is returned only while the server process of the first request is alive. Entries expire after their time to live.
 */
export interface IdempotencyStore {
  reserve(request: KeyedRequest, newSeed: string): Promise<Reservation>;
  /** The answer that is kept for exactly this request, null if there is none. It reserves nothing. */
  storedAnswer(request: KeyedRequest): Promise<StoredAnswer | null>;
  /** Ends the request. No other request may use the key after that, whether the answer is kept or not. */
  complete(request: KeyedRequest, answer: StoredAnswer, retention: AnswerRetention): Promise<void>;
  /**
   * Releases a reservation whose request was refused before it had any effect, or failed in a way that a repeat may fix. Another request may use the
   * key, unless the request was completed before. The same request runs again under the first seed, `resumed`, because a failed request may have had
   * an effect.
   */
  release(request: KeyedRequest): Promise<void>;
}
