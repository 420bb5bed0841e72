import { Type } from '@sinclair/typebox';

import { PAGE_BYTES } from '../base/page-size.js';
import { Rejection } from '../base/rejection.js';
import type { Call } from './route.js';

/** The maximum number of items in one page, and in a list without paging. */
export const PAGE_LIMIT = 500;
export const WHOLE_LIMIT = 10_000;
/** The approximate limit of an unpaged list in bytes of JSON: rows of ordinary size reach 10,000 items before that, large rows do not. */
export const WHOLE_BYTES = 16 * 1024 * 1024;
const DEFAULT_PAGE = 100;

/** The query members for paging a list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_LIMIT,
      description: 'Items per page. Without `limit` and `cursor`, most lists are returned completely.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_048,
      description: 'Where the page starts. Take it from the `Link` header of the previous page.',
    }),
  ),
};

export type Page = { readonly limit: number; readonly bytes: number; readonly beyond?: string };

/** @throws Rejection SCHEMA_INVALID for a cursor that was not made here */
export const pageOf = (query: { readonly limit?: number; readonly cursor?: string }): Page => {
  if (query.cursor === undefined) {
    return query.limit === undefined
      ? { limit: WHOLE_LIMIT, bytes: WHOLE_BYTES }
      : { limit: query.limit, bytes: PAGE_BYTES };
  }
  const beyond = Buffer.from(query.cursor, 'base64url').toString('utf8');
  if (Buffer.from(beyond, 'utf8').toString('base64url') !== query.cursor || beyond === '') {
    throw new Rejection('SCHEMA_INVALID', {
      details: { issues: [{ pointer: '/cursor', message: 'is not a cursor of this list' }] },
    });
  }
  return { limit: query.limit ?? DEFAULT_PAGE, bytes: PAGE_BYTES, beyond };
};

/** The `Link` to the next page, if there are `more` items. */
export const nextLink = (
  call: Pick<Call, 'koa'>,
  page: Page,
  items: readonly { readonly order: string }[],
  more: boolean,
): Record<string, string> => {
  const last = items.at(-1);
  if (!more || last === undefined) return {};
  // The server does not know its public host and scheme, so the link is relative to the origin.
  const next = new URL(call.koa.req.url ?? '/', 'http://localhost');
  next.searchParams.set('limit', String(Math.min(page.limit, PAGE_LIMIT)));
  next.searchParams.set('cursor', Buffer.from(last.order, 'utf8').toString('base64url'));
  return { Link: `<${next.pathname}${next.search}>; rel="next"` };
};
