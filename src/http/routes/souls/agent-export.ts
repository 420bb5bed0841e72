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
    description:
      'With `format: binary` the document also stands as CBOR, in base64, under `soul.binary`. With `storage: ipfs` the answer is the CID of the stored bytes: those of the JSON document in its canonical form, or of the CBOR document.',
    scope: 'souls',
    params: AgentParams,
    writesTo: agentStream,
    body: Type.Object({
      format: nullable(oneOf('json', 'binary')),
      storage: nullable(oneOf('local', 'ipfs')),
      includeMemories: nullable(Type.Boolean({ default: true })),
    }),
    responses: {
      200: {
        description: 'The soul, or its CID.',
        schema: Type.Object(
          {
            format: Type.String(),
            storage: Type.String(),
            cid: Type.Optional(Type.String()),
            soul: Type.Optional(FreeObject),
          },
          { additionalProperties: true },
        ),
      },
    },
    handler: async (call) => {
      const stream = agentStream(call);
      const { format, storage, includeMemories } = call.body;
      const isBinary = format === 'binary';
      await requireRevision(services.events, call.principal.tenant, call.params.agentId);
      const { keyed, resumed, ...by } = contextOf(call);
      // Nothing is begun that cannot end.
      if (storage === 'ipfs') await services.archives.ipfs?.ping();
      const outcome = await beginExport(services, {
        stream,
        npcState: {},
        includeMemories: includeMemories ?? true,
        uploadedBy: 'server',
        ...(storage === 'ipfs' && { storage }),
        ...(storage === 'ipfs' && isBinary && { format }),
        ...{ by, keyed, resumed },
      });
      const { revision, position } = outcome;
      const formatName = isBinary ? 'binary' : 'json';
      if (storage === 'ipfs') {
        return { revision, position, body: { format: formatName, storage, cid: outcome.export.place?.txId ?? '' } };
      }
      const document = await sealedSoul(services.archive, outcome.export.seal?.digest ?? '');
      const binary = isBinary ? { binary: Buffer.from(soulToCbor(document)).toString('base64') } : {};
      return {
        revision,
        position,
        body: { format: formatName, storage: 'local', soul: { ...document, ...binary } },
      };
    },
  });
