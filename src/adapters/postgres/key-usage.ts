import { sql } from 'kysely';

import type { Clock } from '../../ports/clock.js';
import type { KeyUsage } from '../../ports/key-usage.js';
import type { Postgres } from './open.js';

/** How late the table may be, in milliseconds: half of what the port allows, because the write itself takes time. */
const WRITE_EVERY_MS = 30_000;
/** If more keys than this were used, they are written immediately. */
const KEYS_GATHERED = 10_000;

/** When keys were last used, by any server process. Gathered in memory, written twice a minute. */
export class PostgresKeyUsage implements KeyUsage, AsyncDisposable {
  readonly #postgres: Postgres;
  readonly #clock: Clock;
  #gathered = new Map<string, string>();
  /** The uses that are being written, which are the newest known ones until the write is done. */
  #leaving: ReadonlyMap<string, string> = new Map();
  #cancel: (() => void) | null = null;
  #writing: Promise<void> | null = null;

  constructor(postgres: Postgres, clock: Clock) {
    this.#postgres = postgres;
    this.#clock = clock;
  }

  touch(keyId: string, at: Date): void {
    const used = at.toISOString();
    if (used > (this.#gathered.get(keyId) ?? '')) this.#gathered.set(keyId, used);
    if (this.#gathered.size > KEYS_GATHERED) this.#flush();
    else this.#cancel ??= this.#clock.after(WRITE_EVERY_MS, () => this.#flush());
  }

  /** @throws Rejection DATABASE_UNAVAILABLE */
  async lastUsedAt(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (keyIds.length === 0) return new Map();
    const gathered = [this.#gathered, this.#leaving];
    const statement = sql<{ key_id: string; used_at: string }>`
      SELECT key_id, used_at FROM key_usage WHERE key_id = ANY(${keyIds}::text[])`;
    const { rows } = await this.#postgres.run('request', (db) => statement.execute(db));
    const written = new Map(rows.map(({ key_id, used_at }) => [key_id, used_at]));
    const found = new Map<string, string>();
    for (const keyId of keyIds) {
      const used =
        [written, ...gathered]
          .map((known) => known.get(keyId) ?? '')
          .sort()
          .at(-1) ?? '';
      if (used !== '') found.set(keyId, used);
    }
    return found;
  }

  /** Writes what is gathered. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancel?.();
    await this.#writing;
    this.#flush();
    await this.#writing;
  }

  #flush(): void {
    this.#cancel?.();
    this.#cancel = null;
    // One write at a time. Further uses are gathered meanwhile for the next; beyond the bound it is lost, which the port allows.
    if (this.#writing !== null || this.#gathered.size === 0) {
      if (this.#gathered.size > KEYS_GATHERED) this.#gathered.clear();
      return;
    }
    this.#leaving = this.#gathered;
    this.#gathered = new Map();
    this.#writing = this.#write(this.#leaving).finally(() => {
      this.#leaving = new Map();
      this.#writing = null;
    });
  }

  async #write(uses: ReadonlyMap<string, string>): Promise<void> {
    const sorted = [...uses].sort(([one], [other]) => (one < other ? -1 : 1));
    const statement = sql`
      INSERT INTO key_usage AS k (key_id, used_at)
      SELECT * FROM unnest(${sorted.map(([keyId]) => keyId)}::text[], ${sorted.map(([, used]) => used)}::text[])
      ON CONFLICT (key_id) DO UPDATE SET used_at = EXCLUDED.used_at WHERE k.used_at < EXCLUDED.used_at`;
    try {
      await this.#postgres.run('background', (db) => statement.execute(db));
    } catch (err) {
      this.#postgres.log.warn({ err }, 'Failed to record when keys were last used');
    }
  }
}
