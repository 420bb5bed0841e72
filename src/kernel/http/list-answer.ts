import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import { PAGE_BYTES } from '../base/page-size.js';
import type { Json } from '../base/json.js';
import type { ListPage, ListQuery, Projection, ReadModels } from '../../ports/read-models.js';
import { nextLink, type Page, PAGE_LIMIT, pageOf } from './page.js';
import { JSON_TYPE } from './respond.js';
import type { Answer, Call, Chunk } from './route.js';
import { compareOrders } from '../read-models/row-order.js';

/** How many bytes of JSON are written at a time. */
const CHUNK_BYTES = 64 * 1024;
/** One read ends near this many bytes of JSON; parsing them holds the event loop for a millisecond or two. */
const SLICE_BYTES = 256 * 1024;
/** How many rows one response examines if some are filtered out; it may then have fewer items than requested, and says where to continue. */
const ROWS_LOOKED_AT = 20_000;

/** A list of a read model, and the presentation of its rows. */
export type List = {
  readonly readModels: Pick<ReadModels, 'list'>;
  readonly projection: Projection;
  readonly query: Pick<ListQuery, 'partition' | 'tags' | 'direction' | 'within'>;
  /** Keeps only rows for which it returns true; without it, all rows. */
  readonly keep?: (row: Json) => boolean;
  readonly show: (row: Json) => unknown;
};

/** The rows after a position, as many as requested, read in slices, between which other work runs. */
async function* slicesOf(
  { readModels, projection, query }: List,
  beyond: string | undefined,
  limit: number,
): AsyncGenerator<ListPage, void> {
  let place = beyond;
  for (let left = limit; left > 0;) {
    const at = place === undefined ? {} : { beyond: place };
    const bounds = { limit: Math.min(left, PAGE_LIMIT), bytes: SLICE_BYTES };
    const slice = await readModels.list(projection, { ...query, ...at, ...bounds });
    yield slice;
    if (!slice.more) return;
    left -= slice.rows.length;
    place = slice.rows.at(-1)?.order;
    await yieldToEventLoop();
  }
}

/** Where a page ends, how many items it has, and its beginning as JSON: all of it, unless it is longer than the limit for one response. */
type Extent = {
  readonly count: number;
  readonly last: string | undefined;
  readonly more: boolean;
  readonly bytes: number;
  readonly held: readonly string[];
  readonly heldLast: string | undefined;
};

/**
 * Goes through a page to its end, because the `Link` must name the end before the first item is sent. Rows after the first PAGE_BYTES are read again
 * when they are sent. Such lists are rare, and holding them would take many times their length in memory while their clients read.
 */
const extentOf = async (list: List, page: Page): Promise<Extent> => {
  const held: string[] = [];
  let heldLast: string | undefined;
  let last: string | undefined;
  let [bytes, count] = [0, 0];
  let isMore = false;
  const { keep } = list;
  for await (const { rows, more } of slicesOf(list, page.beyond, keep === undefined ? page.limit : ROWS_LOOKED_AT)) {
    isMore = more;
    for (const { order, row } of rows) {
      const isKept = keep?.(row) !== false;
      if (isKept && (count === page.limit || bytes >= page.bytes))
        return { count, last, more: true, bytes, held, heldLast };
      const isHeld = bytes < PAGE_BYTES;
      last = order;
      if (isHeld) heldLast = order;
      if (!isKept) continue;
      const text = JSON.stringify(list.show(row));
      if (isHeld) held.push(text);
      count += 1;
      bytes += Buffer.byteLength(text);
    }
  }
  return { count, last, more: isMore, bytes, held, heldLast };
};

/**
 * The rows in memory, then the following rows up to the end of the page, in their newest form. Rows may have been inserted between them, but not more
 * than the page had: a response that omits rows must not look complete.
 * @throws Error when more were inserted, which cuts off the response; propagates errors from the read models
 */
async function* itemsOf(list: List, extent: Extent): AsyncGenerator<readonly string[], void> {
  const { count, held, heldLast, last } = extent;
  yield held;
  if (last === undefined || heldLast === last) return;
  const sign = list.query.direction === 'ascending' ? 1 : -1;
  let left = 2 * count - held.length;
  for await (const { rows } of slicesOf(list, heldLast, Infinity)) {
    const within: ListPage['rows'] = rows.filter(({ order }) => sign * compareOrders(order, last) <= 0);
    const kept = within.filter(({ row }) => list.keep?.(row) !== false);
    left -= kept.length;
    if (left < 0) throw new Error(`A list of ${count} items more than doubled in length while it was being sent.`);
    yield kept.map(({ row }) => JSON.stringify(list.show(row)));
    if (within.length < rows.length || within.at(-1)?.order === last) return;
  }
}

/** A JSON array of items that are already JSON, in chunks of at most CHUNK_BYTES. Other work runs between two chunks. */
async function* arrayOf(batches: AsyncIterable<readonly string[]>): AsyncGenerator<Chunk, void> {
  let waiting = '';
  let bytes = 0;
  let separator = '[';
  for await (const batch of batches) {
    for (const item of batch) {
      const text = `${separator}${item}`;
      separator = ',';
      const size = Buffer.byteLength(text);
      if (bytes > 0 && bytes + size >= CHUNK_BYTES) {
        yield waiting;
        await yieldToEventLoop();
        [waiting, bytes] = ['', 0];
      }
      if (size < CHUNK_BYTES) {
        waiting += text;
        bytes += size;
        continue;
      }
      const large = Buffer.from(text);
      for (let at = 0; at < size; at += CHUNK_BYTES) {
        yield large.subarray(at, at + CHUNK_BYTES);
        await yieldToEventLoop();
      }
    }
  }
  yield `${waiting}${separator === '[' ? '[]' : ']'}`;
}

/** A page of a list as a bare array: a short page in one piece, a longer one as a stream. */
export const answerList = async (call: Pick<Call, 'koa'>, page: Page, list: List): Promise<Answer> => {
  const extent = await extentOf(list, page);
  const { last, more, bytes, held } = extent;
  const headers = nextLink(call, page, last === undefined ? [] : [{ order: last }], more);
  if (bytes < CHUNK_BYTES) return { headers, raw: { type: JSON_TYPE, content: `[${held.join(',')}]` } };
  return { headers, stream: { type: JSON_TYPE, chunks: () => arrayOf(itemsOf(list, extent)) } };
};

/** A list of all rows of the caller's tenant, with what the caller has written before. */
export const answerTenantList = async (
  call: Pick<Call<unknown, Parameters<typeof pageOf>[0]>, 'koa' | 'query' | 'principal' | 'wrote'>,
  readModels: Pick<ReadModels, 'list' | 'reachedPosition'>,
  { query, ...list }: Omit<List, 'readModels' | 'query'> & { readonly query: Omit<List['query'], 'partition'> },
): Promise<Answer> => {
  const page = pageOf(call.query);
  await readModels.reachedPosition(list.projection, call.wrote);
  return answerList(call, page, { ...list, readModels, query: { ...query, partition: call.principal.tenant } });
};
