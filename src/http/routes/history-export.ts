import { Type } from '@sinclair/typebox';

import { requireRevision } from '../../app/minds/minds.js';
import { Semaphore } from '../../concurrency/semaphore.js';
import { waitForRevision } from '../../app/read-models/read-wait.js';
import { exportHistory } from '../../app/streams/export-history.js';
import { npcStream } from '../../domain/shared/stream-names.js';
import { fileName } from '../file-name.js';
import { csvHeader, csvLine } from '../history-csv.js';
import { filterOf, filterQuery } from '../history-query.js';
import { minRevision } from '../min-revision.js';
import { type RouteDefinition, route } from '../route.js';
import { NpcParams } from '../schemas.js';
import type { Services } from '../services.js';

/** How many histories are exported at once, and how many of one tenant: each holds a page of its stream. */
const EXPORTS = 16;
const TENANT_EXPORTS = 8;

const NDJSON_TYPE = 'application/x-ndjson';
const CSV_TYPE = 'text/csv; charset=utf-8';

/** `GET /npcs/{npcId}/history/export` (contract 10.1). */
export const historyExportRoutes = ({ ports }: Pick<Services, 'ports'>): readonly RouteDefinition[] => {
  const permits = new Semaphore(EXPORTS, TENANT_EXPORTS);
  return [
    route({
      operationId: 'exportHistory',
      method: 'GET',
      path: '/npcs/:npcId/history/export',
      tag: 'Histories',
      summary: 'A whole history as a file: a line for each event',
      scope: 'audit',
      ext: true,
      params: NpcParams,
      query: Type.Object({
        format: Type.Optional(
          Type.Unsafe<'ndjson' | 'csv'>({ type: 'string', enum: ['ndjson', 'csv'], default: 'ndjson' }),
        ),
        ...filterQuery,
      }),
      responses: {
        200: {
          description: 'The events, oldest first.',
          stream: 'finite',
          contentType: NDJSON_TYPE,
          orType: CSV_TYPE,
        },
      },
      handler: async (call) => {
        const { npcId } = call.params;
        const { tenant } = call.principal;
        const asked = filterOf(call.query);
        const revision = await requireRevision(ports.events, tenant, npcId);
        const stream = npcStream(tenant, npcId);
        await waitForRevision(ports.events, stream, minRevision(call));
        const { format = 'ndjson' } = call.query;
        return {
          revision,
          headers: {
            'Content-Disposition': `attachment; filename="${fileName(npcId, format)}"`,
            'X-Content-Type-Options': 'nosniff',
          },
          stream: {
            type: format === 'csv' ? CSV_TYPE : NDJSON_TYPE,
            chunks: async function* () {
              const release = permits.acquire(tenant);
              try {
                if (format === 'csv') yield csvHeader();
                const lineOf = format === 'csv' ? csvLine : (event: object) => `${JSON.stringify(event)}\n`;
                yield* exportHistory(ports.events, stream, asked, lineOf);
              } finally {
                release();
              }
            },
          },
        };
      },
    }),
  ];
};
