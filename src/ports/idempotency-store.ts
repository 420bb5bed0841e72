import type { Json } from '../kernel/base/json.js';

/** An answer kept for repeats: status, the headers that belong to it, and the body. */
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
   * attempt may have done something, and its answer is not there. `done`: an earlier attempt was completed, and only its answer is not there.
   */
  | { readonly kind: 'run'; readonly seed: string; readonly resumed: boolean; readonly done: boolean }
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  | { readonly kind: 'running' }
  | { readonly kind: 'reused' };

/**
 * How long an answer is kept: as long as its key; no longer than the tenant's answers take less than their budget of bytes, the oldest being
 * dropped first; or not at all. Without it the same request runs again, under the first seed, and is known to be done.
 */
export type AnswerRetention = 'always' | 'within-budget' | 'never';

/** How many bytes the answers of one tenant take where nothing else is set (ANIMA_KEPT_ANSWERS_MB). */
export const STORED_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Idempotency keys. A reservation is durable (flushed) before `reserve` resolves, so a repeat after a crash finds its seed. `running`
 * is returned only while the server process of the first request is alive. Entries expire after their time to live.
 */
export interface IdempotencyStore {
  reserve(request: KeyedRequest, newSeed: string): Promise<Reservation>;
  /** The answer that is kept for this very request, null when there is none. It reserves nothing. */
  storedAnswer(request: KeyedRequest): Promise<StoredAnswer | null>;
  /** Ends the request. No other request may take the key from now on, whether the answer is kept or not. */
  complete(request: KeyedRequest, answer: StoredAnswer, retention: AnswerRetention): Promise<void>;
  /**
   * Lets go of a reservation whose request was refused before it did anything, or failed in a way that a repeat may fix. Another request may take the
   * key, unless the request was completed before. The same request runs again under the first seed, `resumed`, because a failed request may have done
   * something.
   */
  release(request: KeyedRequest): Promise<void>;
}
