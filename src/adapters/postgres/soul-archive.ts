import { sql } from 'kysely';

import { isContentDigest } from '../../kernel/crypto/content-digest.js';
import { isIpfsCid } from '../../kernel/crypto/ipfs-cid.js';
import type { Publication, Publishing, SoulArchive, Staging } from '../../ports/soul-archive.js';
import { requireArchiveNames, requireCidOfDigest } from '../shared/archive-names.js';
import { wholePayload } from '../shared/whole-payload.js';
import { isRace } from './failures.js';
import type { Postgres } from './open.js';

/** How much of a payload one statement reads: an answer in text uses twice as many bytes. */
const PIECE_BYTES = 1024 * 1024;
/** The tenant of a public payload: none. No tenant has this id. */
const NOBODY = '';

/**
 * Payloads that all server processes share: a row for each tenant that staged one, and one without a tenant if it is public. Publishing renames the
 * row, so the bytes are written once.
 */
export class PostgresSoulArchive implements SoulArchive {
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  async stage(digest: string, bytes: Uint8Array, { tenant, expiresAt }: Staging): Promise<void> {
    requireArchiveNames(digest, tenant);
    const expires = expiresAt.getTime();
    const keep = sql<{ isThere: boolean }>`
      WITH kept AS (
        UPDATE soul_archive SET expires = GREATEST(expires, ${expires}::bigint)
        WHERE digest = ${digest} AND tenant = ${tenant} RETURNING 1
      )
      SELECT EXISTS (SELECT FROM kept)
        OR EXISTS (SELECT FROM soul_archive WHERE digest = ${digest} AND tenant = ${NOBODY}) AS "isThere"`;
    const { rows } = await this.#postgres.run('request', (db) => keep.execute(db));
    if (rows[0]?.isThere === true) return;
    const add = sql`
      INSERT INTO soul_archive AS a (digest, tenant, bytes, expires) VALUES (${digest}, ${tenant}, ${Buffer.from(bytes)}, ${expires})
      ON CONFLICT (digest, tenant) DO UPDATE SET expires = GREATEST(a.expires, EXCLUDED.expires)`;
    // The largest payload may take longer than a request's statement.
    await this.#postgres.run('background', (db) => add.execute(db));
  }

  async publish(digest: string, { tenant, at }: Publishing): Promise<Publication | null> {
    if (!isContentDigest(digest)) return null;
    if (await this.#makePublic(digest, tenant, at)) return 'published';
    const look = sql`SELECT FROM soul_archive WHERE digest = ${digest} AND tenant = ${NOBODY}`;
    const { rows } = await this.#postgres.run('request', (db) => look.execute(db));
    return rows.length > 0 ? 'wasPublic' : null;
  }

  /** False if there is nothing to publish, or it is public already. */
  async #makePublic(digest: string, tenant: string, at: Date): Promise<boolean> {
    const statement = sql`
      UPDATE soul_archive SET tenant = ${NOBODY}, expires = NULL, since = ${at.getTime()}
      WHERE digest = ${digest} AND tenant = ${tenant} AND expires IS NOT NULL
        AND NOT EXISTS (SELECT FROM soul_archive WHERE digest = ${digest} AND tenant = ${NOBODY})
      RETURNING digest`;
    try {
      const { rows } = await this.#postgres.run('request', (db) => statement.execute(db));
      return rows.length > 0;
    } catch (error) {
      // Another tenant's was published at the same moment.
      if (isRace(error)) return false;
      throw error;
    }
  }

  async withdraw(digest: string): Promise<boolean> {
    if (!isContentDigest(digest)) return false;
    const statement = sql`DELETE FROM soul_archive WHERE digest = ${digest} AND tenant = ${NOBODY} RETURNING digest`;
    const { rows } = await this.#postgres.run('request', (db) => statement.execute(db));
    return rows.length > 0;
  }

  async read(digest: string): Promise<Uint8Array | null> {
    return this.#read(digest, sql`true`);
  }

  async readPublic(digest: string): Promise<Uint8Array | null> {
    return this.#read(digest, sql`tenant = ${NOBODY}`);
  }

  async unstage(digest: string, { tenant }: Pick<Staging, 'tenant'>): Promise<void> {
    const statement = sql`
      DELETE FROM soul_archive WHERE digest = ${digest} AND tenant = ${tenant} AND expires IS NOT NULL`;
    await this.#postgres.run('request', (db) => statement.execute(db));
  }

  async stagedBytes(tenant: string, others?: string): Promise<number> {
    const statement = sql<{ bytes: number }>`
      SELECT coalesce(sum(octet_length(bytes)), 0)::float8 AS bytes FROM soul_archive
      WHERE expires IS NOT NULL AND (tenant = ${tenant} OR starts_with(tenant, ${others ?? null}::text))`;
    const { rows } = await this.#postgres.run('request', (db) => statement.execute(db));
    return rows[0]?.bytes ?? 0;
  }

  async nameByCid(cid: string, digest: string): Promise<void> {
    requireCidOfDigest(cid, digest);
    const add = sql`INSERT INTO soul_cids (cid, digest) VALUES (${cid}, ${digest}) ON CONFLICT (cid) DO NOTHING`;
    await this.#postgres.run('request', (db) => add.execute(db));
  }

  async digestOfCid(cid: string): Promise<string | null> {
    if (!isIpfsCid(cid)) return null;
    const look = sql<{ digest: string }>`SELECT digest FROM soul_cids WHERE cid = ${cid}`;
    const { rows } = await this.#postgres.run('request', (db) => look.execute(db));
    return rows[0]?.digest ?? null;
  }

  async dropStaged(before: Date, limit: number): Promise<number> {
    const statement = sql`
      DELETE FROM soul_archive WHERE (digest, tenant) IN (
        SELECT digest, tenant FROM soul_archive WHERE expires <= ${before.getTime()} ORDER BY expires
        LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      RETURNING digest`;
    const { rows } = await this.#postgres.run('background', (db) => statement.execute(db));
    return rows.length;
  }

  async dropPublic(before: Date, limit: number): Promise<number> {
    const statement = sql`
      DELETE FROM soul_archive WHERE tenant = ${NOBODY} AND digest IN (
        SELECT digest FROM soul_archive WHERE tenant = '' AND since <= ${before.getTime()} ORDER BY since
        LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      RETURNING digest`;
    const { rows } = await this.#postgres.run('background', (db) => statement.execute(db));
    return rows.length;
  }

  async #read(digest: string, which: ReturnType<typeof sql<boolean>>): Promise<Uint8Array | null> {
    if (!isContentDigest(digest)) return null;
    const read = { toItsEnd: false };
    const postgres = this.#postgres;
    // Rows of one digest have the same bytes: it does not matter which of them a piece is from, nor whether it is published meanwhile.
    async function* pieces(): AsyncGenerator<Buffer, void> {
      for (let from = 1; ; from += PIECE_BYTES) {
        const statement = sql<{ piece: Buffer }>`
          SELECT substring(bytes FROM ${from}::integer FOR ${PIECE_BYTES}::integer) AS piece FROM soul_archive
          WHERE digest = ${digest} AND ${which} LIMIT 1`;
        const { rows } = await postgres.run('request', (db) => statement.execute(db));
        const piece = rows[0]?.piece;
        if (piece === undefined) return;
        yield piece;
        read.toItsEnd = piece.length < PIECE_BYTES;
        if (read.toItsEnd) return;
      }
    }
    const payload = await wholePayload(digest, pieces());
    if (payload === null && read.toItsEnd)
      postgres.log.error({ digest }, 'An archived payload is damaged; treating it as missing');
    return payload;
  }
}
