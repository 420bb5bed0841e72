import type { Json } from '../../kernel/base/json.js';
import { compareOrders } from '../../kernel/read-models/row-order.js';
import type { ListPage, ListQuery, Projection, ReadModels } from '../../ports/read-models.js';

type Rows = ListPage['rows'];

/**
 * Rows that are not in any read model, placed before all of its rows, in this order. No row made from a client's id has an order that begins like
 * theirs.
 */
export const rowsBefore = (rows: readonly Json[]): Rows =>
  rows.map((row, index) => ({ key: '', order: `\u0001${String(index).padStart(4, '0')}`, row }));

/** A list of a read model after these rows, in ascending order. */
export const listAfter = (first: Rows, readModels: Pick<ReadModels, 'list'>): Pick<ReadModels, 'list'> => ({
  list: async (projection: Projection, query: ListQuery): Promise<ListPage> => {
    const { beyond, ...fromStart } = query;
    const left = first.filter(({ order }) => beyond === undefined || compareOrders(order, beyond) > 0);
    if (left.length === 0) return readModels.list(projection, query);
    const rows = left.slice(0, query.limit);
    const room = query.limit - rows.length;
    if (left.length > rows.length) return { rows, more: true };
    const rest = await readModels.list(projection, { ...fromStart, limit: Math.max(1, room) });
    return room === 0 ? { rows, more: rest.rows.length > 0 } : { rows: [...rows, ...rest.rows], more: rest.more };
  },
});
