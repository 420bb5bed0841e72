import { sql } from 'kysely';

import { Postgres } from '../../src/adapters/postgres/open.js';
import type { Log } from '../../src/ports/log.js';
import { distEnv, randomNamespace } from './dist-env.js';

const silent: Log = {
  isLevelEnabled: () => false,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A new schema in the database of this run, removed on disposal. `again` acts as another process that uses it. */
export class TestSchema implements AsyncDisposable {
  readonly namespace = randomNamespace();
  readonly url = distEnv().DATABASE_URL;
  readonly #opened: Postgres[] = [];
  readonly postgres = this.again();

  /** @param url another address of the same database, e.g. through a relay */
  again(url = this.url): Postgres {
    const postgres = new Postgres({ url, namespace: this.namespace, log: silent });
    this.#opened.push(postgres);
    return postgres;
  }

  /** Runs SQL on the schema. */
  async query<Row>(text: string): Promise<readonly Row[]> {
    return this.postgres.run('background', async (db) => (await sql.raw<Row>(text).execute(db)).rows);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const remove = sql`DROP SCHEMA IF EXISTS ${sql.id(this.namespace)} CASCADE`;
    await this.postgres.run('background', (db) => remove.execute(db));
    for (const postgres of this.#opened) await postgres[Symbol.asyncDispose]();
  }
}
