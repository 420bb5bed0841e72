import {
  answerFor,
  IDEMPOTENCY_TTL_MS,
  idOf,
  isFree,
  type StoredReservation,
  reservationOf,
} from '../../src/adapters/shared/reservations.js';
import type { Clock } from '../../src/ports/clock.js';
import type { IdempotencyStore } from '../../src/ports/idempotency-store.js';

/** A reservation on the disk; `done`: completed once. */
export type FiledReservation = StoredReservation & { readonly done: boolean };

/**
 * The Idempotency-Keys of a server that runs alone. `file` outlives its process; the running attempts do not.
 * @param running the ids of the running attempts
 * @param drops whether a response is evicted to keep the tenant's budget
 */
export const ownIdempotency = (
  file: Map<string, FiledReservation>,
  clock: Clock,
  running: Set<string> = new Set(),
  drops: () => boolean = () => false,
): IdempotencyStore => {
  const nowMs = (): number => clock.now().getTime();
  const end = (id: string, change: Partial<FiledReservation>): void => {
    const kept = file.get(id);
    if (kept !== undefined) {
      const late = kept.expiresMs <= nowMs() ? { expiresMs: nowMs() + IDEMPOTENCY_TTL_MS } : {};
      file.set(id, { ...kept, ...change, ...late });
    }
    running.delete(id);
  };
  return {
    reserve: async ({ scope, key, digest }, seed) => {
      const id = idOf(scope, key);
      const kept = file.get(id);
      if (kept === undefined || isFree(kept, digest, nowMs(), running.has(id))) {
        file.set(id, {
          digest,
          seed,
          expiresMs: nowMs() + IDEMPOTENCY_TTL_MS,
          answer: null,
          released: false,
          done: false,
        });
        running.add(id);
        return { kind: 'run', seed, resumed: false, done: false };
      }
      const reservation = reservationOf(kept, digest, running.has(id));
      if (reservation.kind === 'run') {
        file.set(id, { ...kept, released: false });
        running.add(id);
      }
      return reservation;
    },
    storedAnswer: async ({ scope, key, digest }) => answerFor(file.get(idOf(scope, key)), digest, nowMs()),
    complete: async ({ scope, key }, answer, retention) => {
      const isDropped = retention === 'never' || (retention === 'within-budget' && drops());
      end(idOf(scope, key), { answer: isDropped ? null : answer, done: true });
    },
    release: async ({ scope, key }) => {
      const id = idOf(scope, key);
      end(id, { released: file.get(id)?.done !== true });
    },
  };
};
