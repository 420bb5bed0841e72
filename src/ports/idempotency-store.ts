import type { Json } from '../domain/shared/json.js';

/** An answer kept for repeats: status, the headers that belong to it, and the body. */
export type KeptAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
};

export type Reservation =
  /**
   * This caller runs the request. `seed` is the same for every attempt: every id that the request makes is derived from it. `resumed`: the process of
   * an earlier attempt died.
   */
  | { readonly kind: 'run'; readonly seed: string; readonly resumed: boolean }
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  | { readonly kind: 'running' }
  | { readonly kind: 'reused' };

/**
 * Idempotency keys (contract 1.7). A reservation is durable (flushed) before `reserve` resolves, so a repeat after a crash finds its seed. `running`
 * is answered only while the server process of the first request lives. Entries are dropped after their time to live.
 */
export interface IdempotencyStore {
  /** `scope` names API key, method and concrete path; `digest` the request body. */
  reserve(scope: string, key: string, digest: string, newSeed: string): Promise<Reservation>;
  /** The answer that is kept for this very request, null when there is none. It reserves nothing. */
  kept(scope: string, key: string, digest: string): Promise<KeptAnswer | null>;
  complete(scope: string, key: string, answer: KeptAnswer): Promise<void>;
  /**
   * Lets go of a reservation whose request was refused before it did anything, or failed in a way that a repeat may fix. Another request may take the
   * key. The same request runs again under the first seed, `resumed`, because a failed request may have done something.
   */
  release(scope: string, key: string): Promise<void>;
}
