import { Type } from '@sinclair/typebox';

import { requireRevision } from '../../../app/minds/minds.js';
import { beginExport } from '../../../app/souls/export-soul.js';
import { sealedSoul } from '../../../app/souls/sealed-soul.js';
import { soulToCbor } from '../../../domain/soul/binary.js';
import { agentStream, contextOf } from '../../command-context.js';
import { type RouteDefinition, route } from '../../route.js';
import { AgentParams, FreeObject, nullable } from '../../schemas.js';
import type { ExportServices } from './exports.js';

/** One of these words; the first is what counts when none is given. */
const oneOf = <Word extends string>(...words: readonly [Word, ...Word[]]) =>
  Type.Unsafe<Word>({ type: 'string', enum: words, default: words[0] });

/** `POST /v1/agents/{agentId}/soul/export`: both phases at once, into the built-in archive (contract 7.2). */
export const agentExportRoute = (services: ExportServices): RouteDefinition =>
  route({
    operationId: 'exportAgentSoul',
    method: 'POST',
    path: '/v1/agents/:agentId/soul/export',
    tag: 'Agents',
    summary: 'Export the soul of an NPC at once',
    description: 'With `format: binary` the document also stands as CBOR, in base64, under `soul.binary`.',
    scope: 'souls',
    params: AgentParams,
    writesTo: agentStream,
    body: Type.Object({
      format: nullable(oneOf('json', 'binary')),
      storage: nullable(oneOf('local')),
      includeMemories: nullable(Type.Boolean({ default: true })),
    }),
    responses: {
      200: {
        description: 'The soul.',
        schema: Type.Object(
          {
            format: Type.String(),
            storage: Type.String(),
            soul: FreeObject,
          },
          { additionalProperties: true },
        ),
      },
    },
    handler: async (call) => {
      const stream = agentStream(call);
      const { format, includeMemories } = call.body;
      await requireRevision(services.events, call.principal.tenant, call.params.agentId);
      const { keyed, resumed, ...by } = contextOf(call);
      const outcome = await beginExport(services, {
        stream,
        npcState: {},
        includeMemories: includeMemories ?? true,
        uploadedBy: 'server',
        ...{ by, keyed, resumed },
      });
      const document = await sealedSoul(services.archive, outcome.export.seal?.digest ?? '');
      const isBinary = format === 'binary';
      const binary = isBinary ? { binary: Buffer.from(soulToCbor(document)).toString('base64') } : {};
      return {
        revision: outcome.revision,
        position: outcome.position,
        body: { format: isBinary ? 'binary' : 'json', storage: 'local', soul: { ...document, ...binary } },
      };
    },
  });
