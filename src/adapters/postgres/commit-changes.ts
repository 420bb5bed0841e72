import { type Kysely, sql, type Transaction } from 'kysely';

import type { Build, Changes } from '../../ports/read-model-writer.js';
import { StreamMoved } from '../shared/stream-moved.js';
import { requireKept } from './builds.js';
import { addCounts } from './counts.js';
import { isRace } from './failures.js';
import { writePassages } from './passages.js';
import { writeTexts } from './row-texts.js';
import { byText } from './stored-text.js';
import type { Tables } from './tables.js';

/**
 * As ReadModelWriter.commit. All writers lock rows and streams in one order. If the database still breaks a deadlock here, the other writer has won.
 * @throws Error if the build was dropped or abandoned
 */
export const commitChanges = async (db: Kysely<Tables>, build: Build, changes: Changes): Promise<boolean> => {
  const { id } = build;
  try {
    await db.transaction().execute(async (tx) => {
      // All writers of the build share this lock; dropping the build waits for them.
      const { rows } = await sql<{
        position: number;
      }>`SELECT position FROM builds WHERE id = ${id} FOR KEY SHARE`.execute(tx);
      requireKept(id, rows[0]?.position);
      await moveStreams(tx, id, changes.progress);
      await putRows(tx, id, changes.put);
      await removeRows(tx, id, changes.remove);
      await writeTexts(tx, build, changes.put);
      await writePassages(tx, id, changes.put);
      await park(tx, id, changes.parked);
      await addCounts(tx, id, changes.counts);
      await sql`UPDATE builds SET position = ${changes.position} WHERE id = ${id} AND position < ${changes.position}`.execute(
        tx,
      );
    });
    return true;
  } catch (error) {
    if (error instanceof StreamMoved || isRace(error)) return false;
    throw error;
  }
};

const moveStreams = async (tx: Transaction<Tables>, build: number, progress: Changes['progress']): Promise<void> => {
  const sorted = [...progress].sort((one, other) => byText(one.stream, other.stream));
  const begun = sorted.filter(({ from }) => from < 0);
  const moved = sorted.filter(({ from }) => from >= 0);
  if (moved.length > 0) {
    const locked = await sql<{ stream: string; revision: number }>`
      SELECT stream, revision FROM progress WHERE build = ${build} AND stream = ANY(${moved.map(({ stream }) => stream)}::text[])
      ORDER BY stream FOR UPDATE`.execute(tx);
    const standing = new Map(locked.rows.map(({ stream, revision }) => [stream, revision]));
    if (moved.some(({ stream, from }) => standing.get(stream) !== from)) throw new StreamMoved();
    await sql`${insertProgress(build, moved)} ON CONFLICT (build, stream) DO UPDATE SET revision = EXCLUDED.revision`.execute(
      tx,
    );
  }
  if (begun.length > 0) {
    const inserted = await sql`${insertProgress(build, begun)} ON CONFLICT DO NOTHING`.execute(tx);
    if (Number(inserted.numAffectedRows) !== begun.length) throw new StreamMoved();
  }
};

const insertProgress = (build: number, progress: Changes['progress']) => sql`
  INSERT INTO progress (build, stream, revision)
  SELECT ${build}, * FROM unnest(${progress.map(({ stream }) => stream)}::text[], ${progress.map(({ to }) => to)}::bigint[])`;

const putRows = async (tx: Transaction<Tables>, build: number, put: Changes['put']): Promise<void> => {
  if (put.length === 0) return;
  const sorted = [...put].sort((one, other) => byText(one.key, other.key));
  const column = (of: (change: Changes['put'][number]) => string): readonly string[] => sorted.map(of);
  await sql`
    INSERT INTO rows AS r (build, key, partition, place, tag, row)
    SELECT ${build}, * FROM unnest(
      ${column(({ key }) => key)}::text[], ${column(({ index }) => index.partition)}::text[],
      ${column(({ index }) => index.order)}::text[], ${column(({ index }) => index.tag)}::text[],
      ${column(({ row }) => JSON.stringify(row))}::text[])
    ON CONFLICT (build, key) DO UPDATE
      SET partition = EXCLUDED.partition, place = EXCLUDED.place, tag = EXCLUDED.tag, row = EXCLUDED.row`.execute(tx);
};

/** Removes rows and their texts in one statement: most rows have no text. */
const removeRows = async (tx: Transaction<Tables>, build: number, keys: readonly string[]): Promise<void> => {
  if (keys.length === 0) return;
  const removed = sql`WHERE build = ${build} AND key = ANY(${[...keys].sort(byText)}::text[])`;
  await sql`WITH gone AS (DELETE FROM texts ${removed}) DELETE FROM rows ${removed}`.execute(tx);
};

const park = async (tx: Transaction<Tables>, build: number, parked: Changes['parked']): Promise<void> => {
  if (parked.length === 0) return;
  const values = parked.map(({ stream, revision, eventId, type, reason, at }) => ({
    build,
    stream,
    revision,
    event_id: eventId,
    type,
    reason,
    at,
  }));
  await tx.insertInto('parked').values(values).execute();
};
