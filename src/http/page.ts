import { Type } from '@sinclair/typebox';

import { Rejection } from '../domain/shared/rejection.js';
import type { Call } from './route.js';

/** Most items of one page, and of a list that was asked for whole (contract 1.9). */
export const PAGE_LIMIT = 500;
export const WHOLE_LIMIT = 10_000;
const DEFAULT_PAGE = 100;

/** The query members with which a list is paged. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PAGE_LIMIT, description: 'Items a page; sends the list in pages.' }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 2_048, description: 'Where the page begins: taken from the Link header.' }),
  ),
};

export type Page = { readonly limit: number; readonly beyond?: string };

/** @throws Rejection SCHEMA_INVALID for a cursor that was not made here */
export const pageOf = (query: { readonly limit?: number; readonly cursor?: string }): Page => {
  if (query.cursor === undefined) return { limit: query.limit ?? WHOLE_LIMIT };
  const beyond = Buffer.from(query.cursor, 'base64url').toString('utf8');
  if (Buffer.from(beyond, 'utf8').toString('base64url') !== query.cursor) {
    throw new Rejection('SCHEMA_INVALID', {
      details: { issues: [{ pointer: '/cursor', message: 'is not a cursor of this list' }] },
    });
  }
  return { limit: query.limit ?? DEFAULT_PAGE, beyond };
};

/** The `Link` to the next page; `items` were read with a limit of one more than the page's. */
export const nextLink = (
  call: Pick<Call, 'koa'>,
  page: Page,
  items: readonly { readonly order: string }[],
): Record<string, string> => {
  const last = items[page.limit - 1];
  if (items.length <= page.limit || last === undefined) return {};
  // Host and scheme are not ours to know; the link is relative to the origin.
  const next = new URL(call.koa.req.url ?? '/', 'http://localhost');
  next.searchParams.set('limit', String(Math.min(page.limit, PAGE_LIMIT)));
  next.searchParams.set('cursor', Buffer.from(last.order, 'utf8').toString('base64url'));
  return { Link: `<${next.pathname}${next.search}>; rel="next"` };
};
