import { Type } from '@sinclair/typebox';

import { retractions } from '../../../../projections/retractions.js';
import { answerTenantList } from '../../../kernel/http/list-answer.js';
import { named } from '../../../kernel/http/named.js';
import { pageQuery } from '../../../kernel/http/page.js';
import { route, type RouteDefinition } from '../../../kernel/http/route.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import type { Ports } from '../../../ports/ports.js';
import { lineageExamples as examples } from './examples.js';

export const RetractionList = named(
  'RetractionList',
  Type.Array(
    Type.Object({
      npcId: Type.String(),
      revision: Type.Integer(),
      at: Type.String({ format: 'date-time' }),
      by: Type.String({ description: 'The key that retracted them.' }),
      reason: Type.String(),
      memoryIds: Type.Array(Type.String()),
      roots: Type.Optional(
        Type.Array(Type.String(), { description: 'The memories that were named, if others derive from them.' }),
      ),
    }),
  ),
);

/** `GET /retractions`. */
export const retractionsRoute = ({ ports }: { readonly ports: Ports }): RouteDefinition =>
  route('GET', '/retractions', {
    operationId: 'listRetractions',
    tag: 'Search',
    summary: 'List the retractions in all NPCs',
    description: 'Newest first.',
    scope: 'audit',
    ext: true,
    query: Type.Object(pageQuery),
    responses: {
      200: { description: 'The retractions.', schema: RetractionList, example: examples.retractions, stream: 'finite' },
    },
    handler: (call) =>
      answerTenantList(call, ports.readModels, {
        projection: retractions,
        query: { direction: 'descending' },
        show: (row) => {
          const { tenant: _tenant, position: _position, ...shown } = row as JsonObject;
          return shown;
        },
      }),
  });
