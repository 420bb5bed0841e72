import { Type } from '@sinclair/typebox';

import { requireRevision } from '../../npcs/find-mind.js';
import { beginExport, type ExportOutcome, exportRef, sealedExport } from '../export-soul.js';
import { agentStream, type Answer, route, type RouteDefinition, onBehalfOf } from '../../../kernel/http/route.js';
import { AgentParams, FreeObject, nullable, openObject } from '../../../kernel/http/schemas.js';
import { type ExportServices, leftOut, soulIdIn, WithoutList } from './exports.js';
import { soulAtOnce } from './sealed-answer.js';

/** One of these words; the first is what counts when none is given. */
const oneOf = <Word extends string>(...words: readonly [Word, ...Word[]]) =>
  Type.Unsafe<Word>({ type: 'string', enum: words, default: words[0] });

/** In which form the soul was asked for. */
type ExportForm = { readonly format?: 'json' | 'binary' | null; readonly storage?: 'local' | 'ipfs' | null };

/** `POST /v1/agents/{agentId}/soul/export`: both phases at once, into the built-in archive. */
export const agentExportRoute = (services: ExportServices): RouteDefinition => {
  const answered = (
    tenant: string,
    { soulId, seal, place }: ExportOutcome['export'],
    { format, storage }: ExportForm,
  ): Answer => {
    const kept = { soulId };
    if (storage === 'ipfs') return { body: { format: format ?? 'json', storage, cid: place?.txId ?? '' }, kept };
    return { stream: soulAtOnce(services.payloads, { digest: seal?.digest ?? '', tenant }, format ?? 'json'), kept };
  };
  return route('POST', '/v1/agents/:agentId/soul/export', {
    operationId: 'exportAgentSoul',
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
      without: nullable(WithoutList),
    }),
    responses: {
      200: {
        description: 'The soul, or its CID.',
        stream: 'finite',
        schema: openObject({
          format: Type.String(),
          storage: Type.String(),
          cid: Type.Optional(Type.String()),
          soul: Type.Optional(FreeObject),
        }),
      },
    },
    handler: async (call) => {
      const stream = agentStream(call);
      const { format, storage, includeMemories, without } = call.body;
      const isBinary = format === 'binary';
      await requireRevision(services.events, call.principal.tenant, call.params.agentId);
      const { keyed, resumed } = call;
      const by = onBehalfOf(call);
      // Nothing is begun that cannot end.
      if (storage === 'ipfs') await services.archives.ipfs?.ping();
      const { export: kept, ...at } = await beginExport(services, {
        stream,
        npcState: {},
        includeMemories: includeMemories ?? true,
        ...leftOut(without),
        uploadedBy: 'server',
        ...(storage === 'ipfs' && { storage }),
        ...(storage === 'ipfs' && isBinary && { format }),
        ...{ by, keyed, resumed },
      });
      return { ...at, ...answered(call.principal.tenant, kept, call.body) };
    },
    restore: async (call, kept) =>
      answered(
        call.principal.tenant,
        await sealedExport(services, exportRef(agentStream(call), soulIdIn(kept))),
        call.body,
      ),
  });
};
