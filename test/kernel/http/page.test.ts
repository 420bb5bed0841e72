import { Value } from '@sinclair/typebox/value';
import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';

import { PAGE_BYTES } from '../../../src/kernel/base/page-size.js';
import { nextLink, PAGE_LIMIT, pageOf, pageQuery, WHOLE_BYTES, WHOLE_LIMIT } from '../../../src/kernel/http/page.js';

const cursorOf = (order: string): string => Buffer.from(order, 'utf8').toString('base64url');
/** A call to this address, as far as a page reads it. */
const callTo = (url: string) => ({ koa: { req: { url } } as unknown as Context });
const items = (...orders: string[]) => orders.map((order) => ({ order }));

describe('the page that a query requests', () => {
  it('is the complete list, bounded, when neither a limit nor a cursor is sent [1.9d]', () => {
    expect(pageOf({})).toEqual({ limit: WHOLE_LIMIT, bytes: WHOLE_BYTES });
    expect([WHOLE_LIMIT, WHOLE_BYTES]).toEqual([10_000, 16 * 1024 * 1024]);
  });

  it('has at most 500 items [1.9c]', () => {
    const limitIsValid = (limit: number) => Value.Check(pageQuery.limit, limit);
    expect([1, 500, 0, 501].map(limitIsValid)).toEqual([true, true, false, false]);
  });

  it('has as many items as requested, or a hundred behind a cursor alone [1.9c]', () => {
    expect(pageOf({ limit: 7 })).toEqual({ limit: 7, bytes: PAGE_BYTES });
    expect(pageOf({ cursor: cursorOf('a') })).toEqual({ limit: 100, bytes: PAGE_BYTES, beyond: 'a' });
    expect(pageOf({ limit: 7, cursor: cursorOf('schöne Äpfel') })).toEqual({
      limit: 7,
      bytes: PAGE_BYTES,
      beyond: 'schöne Äpfel',
    });
  });

  it.each(['', 'not a cursor', 'YQ==', '%%%', Buffer.from([0xff, 0xfe]).toString('base64url')])(
    'is refused for a foreign cursor: %j',
    (cursor) => {
      expect(() => pageOf({ cursor })).toThrow(
        expect.objectContaining({
          code: 'SCHEMA_INVALID',
          details: { issues: [{ pointer: '/cursor', message: 'is not a cursor of this list' }] },
        }),
      );
    },
  );
});

describe('the link to the next page', () => {
  it('is absent on the last page', () => {
    expect(nextLink(callTo('/npcs?limit=2'), pageOf({ limit: 2 }), [], false)).toEqual({});
    expect(nextLink(callTo('/npcs?limit=2'), pageOf({ limit: 2 }), items('a', 'b'), false)).toEqual({});
  });

  it('continues behind the last item of this page, with the rest of the query unchanged', () => {
    const page = pageOf({ limit: 2 });
    expect(nextLink(callTo('/npcs/a%20b/turns?state=ended&limit=2'), page, items('a', 'b'), true)).toEqual({
      Link: `</npcs/a%20b/turns?state=ended&limit=2&cursor=${cursorOf('b')}>; rel="next"`,
    });
  });

  it('replaces the cursor that this page began with', () => {
    const url = `/npcs?cursor=${cursorOf('a')}`;
    expect(nextLink(callTo(url), pageOf({ limit: 1, cursor: cursorOf('a') }), items('b'), true)).toEqual({
      Link: `</npcs?cursor=${cursorOf('b')}&limit=1>; rel="next"`,
    });
  });

  it('requests no more than a page may hold, also behind a complete list', () => {
    const many = items(...Array.from({ length: WHOLE_LIMIT }, (_, n) => String(n)));
    expect(nextLink(callTo('/npcs'), pageOf({}), many, true)).toEqual({
      Link: `</npcs?limit=${PAGE_LIMIT}&cursor=${cursorOf(String(WHOLE_LIMIT - 1))}>; rel="next"`,
    });
  });

  it('contains neither host nor scheme, whatever the address looks like', () => {
    const { Link } = nextLink(callTo('//evil.example/npcs?limit=1'), pageOf({ limit: 1 }), items('a'), true);
    expect(Link).toMatch(/^<\/[^/]/);
  });

  it('leads through the complete list, page by page, each item once [1.9c]', () => {
    const list = items(...'abcdefg');
    const seen: string[] = [];
    let url: string | undefined = '/npcs?limit=3';
    while (url !== undefined) {
      const query = new URL(url, 'http://localhost').searchParams;
      const cursor = query.get('cursor');
      const page = pageOf({ limit: Number(query.get('limit')), ...(cursor === null ? {} : { cursor }) });
      const rest = list.filter(({ order }) => order > (page.beyond ?? ''));
      const shown = rest.slice(0, page.limit);
      seen.push(...shown.map(({ order }) => order));
      url = /^<(.+)>; rel="next"$/.exec(
        nextLink(callTo(url), page, shown, rest.length > page.limit)['Link'] ?? '',
      )?.[1];
    }
    expect(seen.join('')).toBe('abcdefg');
  });
});
