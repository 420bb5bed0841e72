import type { CountedPlace, CountQuery } from '../../ports/read-models.js';
import type { Changes } from '../../ports/read-model-writer.js';
import type { Database } from './database.js';
import { Statements } from './statements.js';

/** The counts of one build. Builds of earlier releases lack the table: no projection of theirs counts. */
export class EmbeddedCounts {
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #counts: string;

  constructor(database: Database, build: number) {
    this.#database = database;
    this.#statements = new Statements(database);
    this.#counts = `counts_${build}`;
  }

  create(): void {
    this.#database.exec(`
      CREATE TABLE ${this.#counts} (
        partition TEXT NOT NULL, place TEXT NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL,
        PRIMARY KEY (partition, place, name)
      ) WITHOUT ROWID`);
  }

  drop(): void {
    this.#statements.clear();
    this.#database.exec(`DROP TABLE IF EXISTS ${this.#counts}`);
  }

  /** Inside a transaction. */
  write({ counts = [] }: Changes): void {
    if (counts.length === 0) return;
    const add = this.#statements.prepared(`INSERT INTO ${this.#counts} VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT DO UPDATE SET count = count + ?4`);
    for (const { partition, place, name, count } of counts) add.run(partition, place, name, count);
  }

  find({ partition, from, to, after, limit }: CountQuery): readonly CountedPlace[] {
    const sql = `SELECT place, name, count FROM ${this.#counts}
      WHERE partition = ?1 AND place >= ?2 AND place < ?3 AND (place, name) > (?4, ?5) ORDER BY place, name LIMIT ?6`;
    const { place, name } = after ?? { place: '', name: '' };
    return this.#statements
      .all(sql, partition, place > from ? place : from, to, place, name, limit)
      .map(([place, name, count]) => ({ place: String(place), name: String(name), count: Number(count) }));
  }
}
