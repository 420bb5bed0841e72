import type {
  IdempotencyStore,
  AnswerRetention,
  StoredAnswer,
  Reservation,
} from '../../src/ports/idempotency-store.js';
import { idOf } from '../../src/adapters/shared/reservations.js';
import type { Link } from './network.js';

/** How often a server sends a sign of life, and for how long others trust it, in milliseconds, as in the adapter for PostgreSQL. */
const HEARTBEAT_MS = 2_000;
const ALIVE_MS = 10_000;

type Row = {
  readonly digest: string;
  readonly seed: string;
  readonly answer: StoredAnswer | null;
  readonly released: boolean;
  /** Completed once. */
  readonly done: boolean;
  readonly owner: string;
  readonly attempt: number;
};
type Claim = { readonly owner: string; readonly attempt: number; readonly running: number };

/**
 * The database with the Idempotency-Keys of all servers. It does what the statements of the adapter for PostgreSQL do, each of them atomically.
 * A reservation may be taken over once its server has sent no sign of life for a while, by the database's own clock.
 */
export class IdempotencyDatabase {
  readonly #rows = new Map<string, Row>();
  readonly #aliveUntil = new Map<string, number>();
  readonly #drops: () => boolean;

  /** @param drops whether a response is evicted to keep the tenant's budget */
  constructor(drops: () => boolean) {
    this.#drops = drops;
  }

  alive(owner: string, nowMs: number): void {
    this.#aliveUntil.set(owner, nowMs + ALIVE_MS);
  }

  reserve(id: string, digest: string, newSeed: string, claim: Claim, nowMs: number): Reservation {
    const { owner, attempt } = claim;
    const row = this.#rows.get(id);
    if (row === undefined || (row.released && row.digest !== digest)) {
      this.#rows.set(id, { digest, seed: newSeed, answer: null, released: false, done: false, owner, attempt });
      return { kind: 'run', seed: newSeed, resumed: false, done: false };
    }
    if (row.digest !== digest) return { kind: 'reused' };
    if (row.answer !== null) return { kind: 'answered', answer: row.answer };
    const isDead =
      row.owner === owner ? row.attempt !== claim.running : (this.#aliveUntil.get(row.owner) ?? 0) <= nowMs;
    if (!row.released && !isDead) return { kind: 'running' };
    this.#rows.set(id, { ...row, released: false, owner, attempt });
    return { kind: 'run', seed: row.seed, resumed: true, done: row.done };
  }

  kept(id: string, digest: string): StoredAnswer | null {
    const row = this.#rows.get(id);
    return row?.digest === digest ? row.answer : null;
  }

  /** Ends an attempt, with a response or without one. An attempt that was taken over stays unchanged. */
  complete(id: string, claim: Omit<Claim, 'running'>, answer: StoredAnswer, keeping: AnswerRetention): void {
    const isDropped = keeping === 'never' || (keeping === 'within-budget' && this.#drops());
    this.#end(id, claim, (row) => (isDropped ? { ...row, done: true, owner: '' } : { ...row, answer, done: true }));
  }

  release(id: string, claim: Omit<Claim, 'running'>): void {
    this.#end(id, claim, (row) => (row.done ? { ...row, owner: '' } : { ...row, released: true }));
  }

  #end(id: string, { owner, attempt }: Omit<Claim, 'running'>, change: (row: Row) => Row): void {
    const row = this.#rows.get(id);
    if (row?.owner === owner && row.attempt === attempt) this.#rows.set(id, change(row));
  }

  /** Releases attempts whose server cannot tell whether they began, or how they ended. */
  abandon(owner: string, attempts: ReadonlySet<number>): void {
    for (const [id, row] of this.#rows) {
      if (row.owner === owner && attempts.has(row.attempt) && row.answer === null) {
        this.#rows.set(id, { ...row, owner: '' });
      }
    }
  }
}

/** One server's access to that database. */
export const idempotencyOver = (database: IdempotencyDatabase, link: Link, owner: string): IdempotencyStore => {
  const { machine, time } = link;
  const running = new Map<string, number>();
  const unsettled = new Set<number>();
  const asking = new Map<string, Promise<unknown>>();
  let lastAttempt = 0;
  let believedUntilMs = 0;

  const beat = async (): Promise<void> => {
    const sentMs = machine.clock.monotonicMs();
    await link.call(async () => database.alive(owner, time.nowMs));
    believedUntilMs = sentMs + ALIVE_MS;
  };
  const beatAgain = (): void => {
    machine.clock.after(HEARTBEAT_MS, beatAgain);
    const gone = new Set(unsettled);
    beat()
      .then(() => link.call(async () => database.abandon(owner, gone)))
      .then(() => gone.forEach((attempt) => unsettled.delete(attempt)))
      .catch(() => undefined);
  };
  beatAgain();

  const end = async (id: string, ends: (claim: Omit<Claim, 'running'>) => void): Promise<void> => {
    const attempt = running.get(id);
    if (attempt === undefined) return;
    try {
      await link.call(async () => ends({ owner, attempt }));
    } catch (error) {
      unsettled.add(attempt);
      throw error;
    } finally {
      if (running.get(id) === attempt) running.delete(id);
    }
  };

  const reserve = async (id: string, digest: string, newSeed: string): Promise<Reservation> => {
    if (machine.clock.monotonicMs() >= believedUntilMs - HEARTBEAT_MS) await beat();
    const attempt = (lastAttempt += 1);
    const claim = { owner, attempt, running: running.get(id) ?? 0 };
    try {
      const reserved = await link.call(async () => database.reserve(id, digest, newSeed, claim, time.nowMs));
      if (reserved.kind === 'run') running.set(id, attempt);
      return reserved;
    } catch (error) {
      unsettled.add(attempt);
      throw error;
    }
  };

  return {
    // One at a time for each key: the running attempt is known only when the previous one is answered.
    reserve: ({ scope, key, digest }, newSeed) => {
      const id = idOf(scope, key);
      const before = asking.get(id) ?? Promise.resolve();
      const asked = before.then(() => reserve(id, digest, newSeed));
      asking.set(
        id,
        asked.catch(() => undefined),
      );
      return asked;
    },
    storedAnswer: ({ scope, key, digest }) => link.call(async () => database.kept(idOf(scope, key), digest)),
    complete: ({ scope, key }, answer, keeping) => {
      const id = idOf(scope, key);
      return end(id, (claim) => database.complete(id, claim, answer, keeping));
    },
    release: ({ scope, key }) => {
      const id = idOf(scope, key);
      return end(id, (claim) => database.release(id, claim));
    },
  };
};
