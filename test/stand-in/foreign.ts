import type { Database } from '../../src/adapters/embedded/database.js';

/** How many events of other programs share a stream. */
const IN_STREAM = 20;
const TYPE = 'OrderLineAdded';
const DATA = Buffer.from(JSON.stringify({ article: 'A lamp of brass', amount: 1, note: '.'.repeat(140) }));
const METADATA = Buffer.from('{"by":"the shop"}');

const COUNTED = 'WITH RECURSIVE counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < @count)';
const STREAMS = `${COUNTED} INSERT INTO streams (id, name) SELECT @firstStream + n, 'shop-order-' || n FROM counted`;
const EVENTS = `${COUNTED} INSERT INTO events
  SELECT @from + n * @size, @firstStream + n / ${String(IN_STREAM)}, n % ${String(IN_STREAM)},
    format('%08x-0000-4000-8000-%012x', n, n), @type, 1, @data, @metadata, @created FROM counted`;

/**
 * Writes `count` events of other programs, of about 200 bytes, to a log, in separate streams. The database does it alone: a million take seconds.
 * @param overhead the size of a record in the log besides data and metadata
 * @returns the position of the next event
 */
export const writeForeign = (
  database: Database,
  { count, from, firstStream, overhead }: Readonly<Record<'count' | 'from' | 'firstStream' | 'overhead', number>>,
): number => {
  if (count === 0) return from;
  const size = overhead + DATA.length + METADATA.length;
  database.prepare(STREAMS).run({ count: Math.ceil(count / IN_STREAM), firstStream });
  database
    .prepare(EVENTS)
    .run({ count, from, firstStream, size, type: TYPE, data: DATA, metadata: METADATA, created: Date.now() });
  return from + count * size;
};
