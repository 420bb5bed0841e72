import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';

import { type Json, jsonBytes } from '../../../src/kernel/base/json.js';
import { untilFull } from '../../../src/kernel/base/page-size.js';
import { answerList } from '../../../src/kernel/http/list-answer.js';
import { pageOf, WHOLE_BYTES, WHOLE_LIMIT } from '../../../src/kernel/http/page.js';
import type { Answer } from '../../../src/kernel/http/route.js';
import type { ListQuery, Projection } from '../../../src/ports/read-models.js';

const CHUNK_BYTES = 64 * 1024;
const SLICE_BYTES = 256 * 1024;
const MIB = 1024 * 1024;

type Row = { readonly order: string; readonly row: Json };

/** Counts turns of the event loop until it is disposed of. */
const loopTurns = () => {
  let turns = 0;
  const turn = (): void => {
    turns += 1;
    running = setImmediate(turn);
  };
  let running = setImmediate(turn);
  return { now: () => turns, [Symbol.dispose]: () => clearImmediate(running) };
};

/** A read model of these rows, and each read of it: its arguments, and after how many turns of the loop. */
const listOf = (rows: readonly Row[], direction: ListQuery['direction'] = 'ascending', now: () => number = () => 0) => {
  const reads: { readonly query: ListQuery; readonly turn: number }[] = [];
  const sorted = { rows: [...rows] };
  const list = async (_: Projection, query: ListQuery) => {
    reads.push({ query, turn: now() });
    const sign = query.direction === 'ascending' ? 1 : -1;
    const matching = sorted.rows
      .filter(
        ({ order }) =>
          query.beyond === undefined || sign * Buffer.compare(Buffer.from(order), Buffer.from(query.beyond)) > 0,
      )
      .sort((one, other) => sign * Buffer.compare(Buffer.from(one.order), Buffer.from(other.order)));
    const shown = [...untilFull(matching.slice(0, query.limit), ({ row }) => jsonBytes(row), query.bytes ?? Infinity)];
    return { rows: shown.map(({ order, row }) => ({ key: order, order, row })), more: shown.length < matching.length };
  };
  return {
    reads,
    sorted,
    list: {
      readModels: { list },
      projection: {} as Projection,
      query: { partition: 'p', direction },
      show: (row: Json) => ({ shown: row }),
    },
  };
};
const callTo = (url: string) => ({ koa: { req: { url } } as unknown as Context });
const orderOf = (n: number): string => String(n).padStart(6, '0');
const rowsOf = (count: number, size: number): readonly Row[] =>
  Array.from({ length: count }, (_, n) => ({ order: orderOf(n), row: { n, text: 'é'.repeat(size / 2) } }));
const shownOf = (rows: readonly Row[]): string => JSON.stringify(rows.map(({ row }) => ({ shown: row })));
const linkTo = (order: string, limit = 500): object => ({
  Link: `</npcs?limit=${limit}&cursor=${Buffer.from(order).toString('base64url')}>; rel="next"`,
});
const never = new AbortController().signal;

const chunksOf = async (answer: Answer, each: (chunk: Buffer) => void = () => undefined): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of answer.stream?.chunks(never) ?? []) {
    chunks.push(Buffer.from(chunk));
    each(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString();
};

describe('a short list', () => {
  it.each([0, 1, 7])('of %i items is sent whole', async (count) => {
    const rows = rowsOf(count, 100);
    const answer = await answerList(callTo('/npcs'), pageOf({}), listOf(rows).list);
    expect(answer).toEqual({ headers: {}, raw: { type: 'application/json; charset=utf-8', content: shownOf(rows) } });
  });

  it('is read only up to the requested limit, and has a cursor to the rest', async () => {
    const rows = rowsOf(7, 100);
    const { list, reads } = listOf(rows);
    const { headers, raw } = await answerList(callTo('/npcs?limit=3'), pageOf({ limit: 3 }), list);
    expect([headers, raw?.content]).toEqual([linkTo(orderOf(2), 3), shownOf(rows.slice(0, 3))]);
    expect(reads.map(({ query }) => query.limit)).toEqual([3]);
  });
});

describe('a filtered list', () => {
  const odd = (row: Json): boolean => (row as { readonly n: number }).n % 2 === 1;
  const oddOf = (rows: readonly Row[]): readonly Row[] => rows.filter(({ row }) => odd(row));

  it('has as many items as requested, and a cursor only if there are more', async () => {
    const rows = rowsOf(8, 100);
    const listed = (url: string, cursor?: string) => {
      const page = pageOf({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      return answerList(callTo(url), page, { ...listOf(rows).list, keep: odd });
    };
    const first = await listed('/npcs?limit=2');
    expect(first.raw?.content).toBe(shownOf([rows[1], rows[3]] as Row[]));
    expect(first.headers).toEqual(linkTo(orderOf(4), 2));
    const second = await listed('/npcs?limit=2', Buffer.from(orderOf(4)).toString('base64url'));
    expect(second.raw?.content).toBe(shownOf([rows[5], rows[7]] as Row[]));
    expect(second.headers).toEqual({});
  });

  it('looks at a bounded number of rows, and continues from there [3.1f]', async () => {
    const rows = rowsOf(20_001, 4);
    const { list, reads } = listOf(rows);
    const answer = await answerList(callTo('/npcs'), pageOf({}), { ...list, keep: () => false });
    expect([answer.headers, answer.raw?.content]).toEqual([linkTo(orderOf(19_999)), '[]']);
    expect(reads.reduce((sum, { query }) => sum + query.limit, 0)).toBe(20_000);
  });

  it('is the same array when it is so long that it is read twice', async () => {
    const rows = rowsOf(1_200, 10_000);
    const answer = await answerList(callTo('/npcs'), pageOf({}), { ...listOf(rows).list, keep: odd });
    expect(await chunksOf(answer)).toBe(shownOf(oddOf(rows)));
    expect(answer.headers).toEqual({});
  });
});

describe('a long list', () => {
  it.each(['ascending', 'descending'] as const)(
    'is sent as the same array in small chunks, with the loop yielded between reads and between chunks, %s',
    async (direction) => {
      using turns = loopTurns();
      const rows = rowsOf(9_000, 700);
      const { list, reads } = listOf(rows, direction, turns.now);
      const answer = await answerList(callTo('/npcs'), pageOf({}), list);
      const chunks: { readonly size: number; readonly turn: number }[] = [];
      const text = await chunksOf(answer, ({ length }) => chunks.push({ size: length, turn: turns.now() }));
      expect(text).toBe(shownOf(direction === 'ascending' ? rows : rows.toReversed()));
      expect(answer.headers).toEqual({});
      expect(Math.max(...chunks.map(({ size }) => size))).toBeLessThanOrEqual(CHUNK_BYTES);
      expect(new Set(chunks.map(({ turn }) => turn)).size).toBe(chunks.length);
      expect(Math.max(...reads.map(({ query }) => query.bytes ?? Infinity))).toBe(SLICE_BYTES);
      expect(new Set(reads.map(({ turn }) => turn)).size).toBe(reads.length);
    },
  );

  it('cuts an item that is larger than a chunk, wherever its characters are', async () => {
    const rows = rowsOf(3, 150_001);
    let largest = 0;
    const answer = await answerList(callTo('/npcs'), pageOf({}), listOf(rows).list);
    const text = await chunksOf(answer, ({ length }) => (largest = Math.max(largest, length)));
    expect(text).toBe(shownOf(rows));
    expect(largest).toBeLessThanOrEqual(CHUNK_BYTES);
  });

  it('is read beyond 4 MiB only as it is consumed', async () => {
    const { list, reads } = listOf(rowsOf(1_200, 10_000));
    const answer = await answerList(callTo('/npcs'), pageOf({}), list);
    const before = reads.length;
    let taken = 0;
    await chunksOf(answer, ({ length }) => {
      taken += length;
      const readOn = (reads.length - before) * SLICE_BYTES;
      expect(readOn).toBeLessThanOrEqual(Math.max(0, taken - 4 * MIB) + 2 * SLICE_BYTES);
    });
    expect(taken).toBeGreaterThan(11 * MIB);
    expect(reads.length).toBeGreaterThan(before + 20);
  });

  it(`ends with the last of ${WHOLE_LIMIT} items, and has a cursor to the rest [1.9d]`, async () => {
    const rows = rowsOf(WHOLE_LIMIT + 1, 20);
    const whole = await answerList(callTo('/npcs'), pageOf({}), listOf(rows.slice(0, -1)).list);
    expect(whole.headers).toEqual({});
    const answer = await answerList(callTo('/npcs'), pageOf({}), listOf(rows).list);
    expect(answer.headers).toEqual(linkTo(orderOf(WHOLE_LIMIT - 1)));
    expect(await chunksOf(answer)).toBe(shownOf(rows.slice(0, -1)));
  });

  it('ends with the item that brings it to 16 MiB, and has a cursor to the rest [1.9d]', async () => {
    const rows = rowsOf(200, 100_000);
    const answer = await answerList(callTo('/npcs'), pageOf({}), listOf(rows).list);
    const text = await chunksOf(answer);
    const count = (JSON.parse(text) as readonly unknown[]).length;
    expect(text).toBe(shownOf(rows.slice(0, count)));
    expect(Buffer.byteLength(text)).toBeGreaterThan(WHOLE_BYTES);
    expect(Buffer.byteLength(shownOf(rows.slice(0, count - 1)))).toBeLessThan(WHOLE_BYTES + count);
    expect(answer.headers).toEqual(linkTo(orderOf(count - 1)));
  });

  it('breaks off when rows are inserted faster than it is read, and does not look complete', async () => {
    const rows = rowsOf(600, 10_000);
    const { list, sorted, reads } = listOf(rows);
    const answer = await answerList(callTo('/npcs'), pageOf({}), list);
    const first = reads.length;
    const read = list.readModels.list;
    let more = 0;
    const growing = async (projection: Projection, query: ListQuery) => {
      // As many as one read returns, right behind its start.
      for (let n = 0; n < 30; n += 1) {
        more += 1;
        sorted.rows.push({
          order: `${query.beyond ?? ''}+${String(more).padStart(9, '0')}`,
          row: { n: more, text: 'x'.repeat(10_000) },
        });
      }
      if (reads.length > 10 * first) throw new Error('read for ever');
      return read(projection, query);
    };
    Object.assign(list.readModels, { list: growing });
    await expect(chunksOf(answer)).rejects.toThrow('more than');
    expect(reads.length).toBeLessThan(6 * first);
  });

  it('contains nothing beyond its end, whatever changed in the meantime', async () => {
    const rows = rowsOf(1_000, 10_000);
    const { list, sorted } = listOf(rows);
    const answer = await answerList(callTo('/npcs'), pageOf({}), list);
    const within = { order: `${orderOf(900)}a`, row: { n: -1, text: '' } };
    const behind = { order: orderOf(1_000), row: { n: -2, text: '' } };
    sorted.rows = [...rows.slice(0, -1), within, behind];
    const expected = [...rows.slice(0, 901), within, ...rows.slice(901, -1)];
    expect(await chunksOf(answer)).toBe(shownOf(expected));
  });
});
