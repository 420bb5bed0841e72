import {
  answerFor,
  IDEMPOTENCY_TTL_MS,
  idOf,
  isFree,
  type KeptReservation,
  reservationOf,
} from '../../src/adapters/shared/reservations.js';
import type { Clock } from '../../src/ports/clock.js';
import type { IdempotencyStore } from '../../src/ports/idempotency-store.js';

/** The Idempotency-Keys of a server that runs alone. `file` outlives its process; what the process is running does not. */
export const ownIdempotency = (file: Map<string, KeptReservation>, clock: Clock): IdempotencyStore => {
  const running = new Set<string>();
  const nowMs = (): number => clock.now().getTime();
  const end = (id: string, change: Partial<KeptReservation>): void => {
    const kept = file.get(id);
    if (kept !== undefined) file.set(id, { ...kept, ...change });
    running.delete(id);
  };
  return {
    reserve: async (scope, key, digest, seed) => {
      const id = idOf(scope, key);
      const kept = file.get(id);
      if (kept === undefined || isFree(kept, digest, nowMs(), running.has(id))) {
        file.set(id, { digest, seed, expiresMs: nowMs() + IDEMPOTENCY_TTL_MS, answer: null, released: false });
        running.add(id);
        return { kind: 'run', seed, resumed: false };
      }
      const reservation = reservationOf(kept, digest, running.has(id));
      if (reservation.kind === 'run') {
        file.set(id, { ...kept, released: false });
        running.add(id);
      }
      return reservation;
    },
    kept: async (scope, key, digest) => answerFor(file.get(idOf(scope, key)), digest, nowMs()),
    complete: async (scope, key, answer) => end(idOf(scope, key), { answer }),
    release: async (scope, key) => end(idOf(scope, key), { released: true }),
  };
};
