import { Type } from '@sinclair/typebox';

import { accessEvents } from '../domain/access-events.js';
import { keyExamples as examples } from './examples.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { accessStream } from '../../../kernel/base/stream-names.js';
import { named } from '../../../kernel/http/named.js';
import { nextLink, pageOf, pageQuery } from '../../../kernel/http/page.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import type { EventStore } from '../../../ports/event-store.js';

/** The maximum number of items in one answer. */
const MOST = 500;

export const AccessList = named(
  'AccessList',
  Type.Array(
    Type.Object({
      keyId: Type.String(),
      operation: Type.String({ description: 'The `operationId` of the route.' }),
      npcId: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'The NPC that the path names.' }),
      minute: Type.String({ format: 'date-time', description: 'When the minute of the requests began.' }),
      count: Type.Integer({ description: 'How many requests these were.' }),
    }),
  ),
);

/** The revision that a cursor names. @throws Rejection SCHEMA_INVALID for any other text */
const revisionOf = (order: string): number => {
  if (/^\d{1,15}$/.test(order)) return Number(order);
  throw new Rejection('SCHEMA_INVALID', { message: 'The cursor does not belong to this list.' });
};

/** `GET /access`. */
export const accessRoute = ({ events }: { readonly events: Pick<EventStore, 'read'> }): RouteDefinition =>
  route('GET', '/access', {
    operationId: 'listAccess',
    tag: 'Keys',
    scope: 'audit',
    ext: true,
    summary: 'List who read histories, and who acted with the scopes of operators',
    description: 'Newest first, at most 500 at a time. The current minute is not in the list yet.',
    query: Type.Object(pageQuery),
    responses: ok('The accesses.', AccessList, examples.accesses),
    handler: async (call) => {
      const page = pageOf(call.query);
      const below = page.beyond === undefined ? undefined : revisionOf(page.beyond);
      if (below === 0) return { body: [] };
      const found = await events.read(accessStream(call.principal.tenant), {
        direction: 'backwards',
        limit: Math.min(page.limit, MOST),
        ...(below === undefined ? {} : { from: below - 1 }),
      });
      const shown = found.events.flatMap((recorded) => {
        const event = accessEvents.decode(recorded);
        return event.type === 'HistoryAccessed' ? [event.data] : [];
      });
      const orders = found.events.map(({ revision }) => ({ order: String(revision) }));
      return { headers: nextLink(call, page, orders, (found.events.at(-1)?.revision ?? 0) > 0), body: shown };
    },
  });
