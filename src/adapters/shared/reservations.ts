import type { AnswerRetention, StoredAnswer, Reservation } from '../../ports/idempotency-store.js';

/**
 * How long a key is remembered, in milliseconds: from its first request on, or from the end of a request that ends later than this, and as long again
 * if its process died (promise 1.7f).
 */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1_000;

/** The part of a reservation that outlives a process that died. */
export type StoredReservation = {
  readonly digest: string;
  readonly seed: string;
  readonly expiresMs: number;
  readonly answer: StoredAnswer | null;
  /** Released without an answer. The seed is kept for a repeat of the same request, because a failed request may have had an effect. */
  readonly released: boolean;
  /** Completed once, whether its answer is kept or not. */
  readonly done: boolean;
};

/**
 * Whether a request may use the key as if it had never been used. A request that runs, or that a process left running when it died, is not free,
 * whatever the clock shows: it would be carried out twice.
 * @param running in this process
 */
export const isFree = (
  { answer, released, done, ...kept }: StoredReservation,
  digest: string,
  nowMs: number,
  running: boolean,
): boolean =>
  !running &&
  ((kept.expiresMs <= nowMs && (answer !== null || released || done)) || (released && kept.digest !== digest));

/** The reservation of a key that is not free, for a request; `running`: in this process. */
export const reservationOf = (kept: StoredReservation, digest: string, running: boolean): Reservation => {
  if (kept.digest !== digest) return { kind: 'reused' };
  if (kept.answer !== null) return { kind: 'answered', answer: kept.answer };
  return running ? { kind: 'running' } : { kind: 'run', seed: kept.seed, resumed: true, done: kept.done };
};

/** The stored answer for a repeated request; `kept` is the entry of its key. */
export const answerFor = (kept: StoredReservation | undefined, digest: string, nowMs: number): StoredAnswer | null =>
  kept === undefined || isFree(kept, digest, nowMs, false) || kept.digest !== digest ? null : kept.answer;

/** An answer as it is stored: its text, null if none is kept, and how many bytes count against the tenant's budget. */
export const answerText = (
  answer: StoredAnswer,
  retention: AnswerRetention,
): { readonly text: string | null; readonly bytes: number } => {
  if (retention === 'never') return { text: null, bytes: 0 };
  const text = JSON.stringify(answer);
  return { text, bytes: retention === 'always' ? 0 : Buffer.byteLength(text) };
};

/** One name for scope and key, without ambiguity between the two. */
export const idOf = (scope: string, key: string): string => JSON.stringify([scope, key]);
