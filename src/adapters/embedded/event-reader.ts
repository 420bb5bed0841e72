import { DatabaseSync } from '@photostructure/sqlite';

import type { EventStore } from '../../ports/event-store.js';
import { rangeOf } from '../shared/append-rules.js';
import { damagedPart, isDamage, sqliteRejection } from './database.js';
import { EVENT_COLUMNS, type EventRow, readPage } from './event-log.js';
import { streamSubject } from './stream-subject.js';

/** How long a read waits for a lock, in milliseconds. */
const LOCK_MS = 5_000;

/** Reads streams. */
export type EventReader = Pick<EventStore, 'read'> & Disposable;

/**
 * A second connection to the file of an event store, for another thread of the process that has the store open. It only reads, and caches nothing:
 * each page shows the file at that time. Its pages are read without pauses.
 * @throws what opening the file throws
 */
export const openEventReader = (file: string): EventReader => {
  const database = new DatabaseSync(file, { readOnly: true, timeout: LOCK_MS });
  const head = database.prepare(
    'SELECT id, (SELECT max(revision) FROM events WHERE stream = streams.id) AS last FROM streams WHERE name = ?',
  );
  const prepared = (order: 'ASC' | 'DESC') => {
    const statement = database.prepare(
      `SELECT ${EVENT_COLUMNS} FROM events WHERE stream = ? AND revision BETWEEN ? AND ? ORDER BY revision ${order} LIMIT ?`,
    );
    statement.setReturnArrays(true);
    return statement;
  };
  const statements = { forwards: prepared('ASC'), backwards: prepared('DESC') };

  const read: EventReader['read'] = async (stream, range) => {
    try {
      const found = head.get(stream) as { readonly id: number; readonly last: number | null } | undefined;
      const lastRevision = found?.last ?? -1;
      const { lowest, highest } = rangeOf(range, lastRevision);
      if (found === undefined || lowest > highest) return { events: [], lastRevision };
      const isForwards = range.direction === 'forwards';
      const fetch = (last: EventRow | undefined, count: number): readonly EventRow[] => {
        const [from, to] = isForwards
          ? [(last?.[2] ?? lowest - 1) + 1, highest]
          : [lowest, (last?.[2] ?? highest + 1) - 1];
        return statements[range.direction].all(found.id, from, to, count) as EventRow[];
      };
      const page = readPage(range.limit, fetch, () => stream);
      for (;;) {
        const { done, value } = page.next();
        if (done === true) return { events: value, lastRevision };
      }
    } catch (error) {
      throw isDamage(error) ? damagedPart(file, streamSubject(stream)) : sqliteRejection(error);
    }
  };
  return { read, [Symbol.dispose]: () => database.close() };
};
