import { Type } from '@sinclair/typebox';

import { bundleOf } from '../../app/audit/bundle.js';
import { requireRevision } from '../../app/minds/minds.js';
import { Semaphore } from '../../concurrency/semaphore.js';
import { defined } from '../../domain/shared/defined.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { fileName } from '../file-name.js';
import { type RouteDefinition, route } from '../route.js';
import { NpcParams } from '../schemas.js';
import type { Services } from '../services.js';

/** How many bundles are made at once, and how many of one tenant: each holds a page of its stream. */
const BUNDLES = 16;
const TENANT_BUNDLES = 8;
const NDJSON_TYPE = 'application/x-ndjson';

const Revision = Type.Integer({ minimum: 0 });

/** `GET /npcs/{npcId}/history/bundle` (contract 10.5). */
export const historyBundleRoute = ({
  ports,
  signingKeys,
}: Pick<Services, 'ports' | 'signingKeys'>): RouteDefinition => {
  const { events, clock } = ports;
  const permits = new Semaphore(BUNDLES, TENANT_BUNDLES);
  return route({
    operationId: 'bundleHistory',
    method: 'GET',
    path: '/npcs/:npcId/history/bundle',
    tag: 'Proofs',
    summary: 'A history that anybody can check offline, with the proof that the log holds it',
    scope: 'audit',
    ext: true,
    params: NpcParams,
    query: Type.Object({
      from: Type.Optional(Revision),
      to: Type.Optional(Revision),
      extends: Type.Optional(
        Type.Integer({ minimum: 1, description: 'Also show that the log extends its checkpoint of this size.' }),
      ),
    }),
    responses: {
      200: { description: 'A header, the events, and the proof.', stream: 'finite', contentType: NDJSON_TYPE },
    },
    handler: async (call) => {
      const { npcId } = call.params;
      const { tenant } = call.principal;
      const last = await requireRevision(events, tenant, npcId);
      const { from = 0, to = last, extends: earlier } = call.query;
      const end = Math.min(to, last);
      if (from > end) {
        throw new Rejection('SCHEMA_INVALID', { message: 'There is no event from "from" to "to".', details: { last } });
      }
      const asked = { tenant, npcId, from, to: end, ...defined({ extends: earlier }) };
      const keys = await signingKeys.publicJwks();
      const madeAt = clock.now().toISOString();
      return {
        revision: last,
        headers: {
          'Content-Disposition': `attachment; filename="${fileName(npcId, 'bundle.ndjson')}"`,
          'X-Content-Type-Options': 'nosniff',
        },
        stream: {
          type: NDJSON_TYPE,
          chunks: async function* () {
            const release = permits.acquire(tenant);
            try {
              yield* bundleOf(events, { ...asked, madeAt, keys });
            } finally {
              release();
            }
          },
        },
      };
    },
  });
};
