import type { Clock } from '../../ports/clock.js';
import type { KeyUsage } from '../../ports/key-usage.js';
import type { Database } from './database.js';

/** How late the file may be, in milliseconds: one minute. */
const WRITE_EVERY_MS = 60_000;
/** If more keys than this were used, they are written immediately. */
const KEYS_GATHERED = 10_000;

/** When keys were last used. Gathered in memory, written once a minute to the file that may be lost. */
export class EmbeddedKeyUsage implements KeyUsage, Disposable {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #write;
  readonly #read;
  readonly #gathered = new Map<string, string>();
  #cancel: (() => void) | null = null;

  /** @param database of `openReadsFile`; close it after this */
  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#write = database.prepare(`INSERT INTO key_usage VALUES (?1, ?2)
      ON CONFLICT (key_id) DO UPDATE SET used_at = ?2 WHERE used_at < ?2`);
    this.#read = database.prepare('SELECT used_at AS at FROM key_usage WHERE key_id = ?');
  }

  touch(keyId: string, at: Date): void {
    const used = at.toISOString();
    if (used > (this.#gathered.get(keyId) ?? '')) this.#gathered.set(keyId, used);
    if (this.#gathered.size > KEYS_GATHERED) this.#flush();
    else this.#cancel ??= this.#clock.after(WRITE_EVERY_MS, () => this.#flush());
  }

  async lastUsedAt(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (const keyId of keyIds) {
      const written = (this.#read.get(keyId) as { at: string } | undefined)?.at ?? '';
      const gathered = this.#gathered.get(keyId) ?? '';
      const used = written > gathered ? written : gathered;
      if (used !== '') found.set(keyId, used);
    }
    return found;
  }

  /** Writes what is gathered. */
  [Symbol.dispose](): void {
    this.#flush();
  }

  #flush(): void {
    this.#cancel?.();
    this.#cancel = null;
    try {
      this.#database.transaction(() => {
        for (const [keyId, used] of this.#gathered) this.#write.run(keyId, used);
      });
    } catch {
      // On a full disk these uses are lost, which the port allows. The next write is tried as usual.
    }
    this.#gathered.clear();
  }
}
