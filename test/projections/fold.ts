import type { Json } from '../../src/kernel/base/json.js';
import { rowKey } from '../../src/kernel/read-models/row-key.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import type { Projection } from '../../src/ports/read-models.js';

/** The rows that events make of the previous rows, by key. */
export const rowsOf = <Row extends Json>(
  projection: Projection<Row>,
  events: readonly RecordedEvent[],
  before: ReadonlyMap<string, Row> = new Map(),
): ReadonlyMap<string, Row> => {
  const rows = new Map(before);
  for (const event of events) {
    const handled = projection.handles === 'all' || projection.handles.includes(event.type);
    for (const id of handled ? projection.idsOf(event) : []) {
      const key = rowKey(event.stream, id);
      const row = projection.evolve(rows.get(key) ?? null, event, id);
      if (row === null) rows.delete(key);
      else rows.set(key, row);
    }
  }
  return rows;
};
