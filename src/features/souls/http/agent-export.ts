import { Type } from '@sinclair/typebox';

import { requireRevision } from '../../npcs/find-mind.js';
import { beginExport, type ExportOutcome, exportRef, sealedExport } from '../export-soul.js';
import { agentStream, type Answer, route, type RouteDefinition, onBehalfOf } from '../../../kernel/http/route.js';
import { named } from '../../../kernel/http/named.js';
import { AgentParams, nullable } from '../../../kernel/http/schemas.js';
import { type ExportServices, leftOut, soulIdIn, WithoutList } from './exports.js';
import { soulExamples as examples } from './examples.js';
import { ExportedAgentSoul } from './schemas.js';
import { soulAtOnce } from './sealed-answer.js';

/** One of these values; the first is the default. */
const oneOf = <Word extends string>(...words: readonly [Word, ...Word[]]) =>
  Type.Unsafe<Word>({ type: 'string', enum: words, default: words[0] });

/** The requested form of the soul. */
type ExportForm = { readonly format?: 'json' | 'binary' | null; readonly storage?: 'local' | 'ipfs' | null };

const ExportAgentSoulRequest = named(
  'ExportAgentSoulRequest',
  Type.Object({
    format: nullable(oneOf('json', 'binary')),
    storage: nullable(oneOf('local', 'ipfs')),
    includeMemories: nullable(Type.Boolean({ default: true })),
    without: nullable(WithoutList),
  }),
);

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
    summary: 'Export the soul of an NPC in one request',
    description:
      'With `format: binary`, `soul.binary` also has the document as CBOR, in base64. With `storage: ipfs`, the response has the CID of the stored bytes: of the JSON document in its canonical form, or of the CBOR document.',
    scope: 'souls',
    params: AgentParams,
    writesTo: agentStream,
    body: ExportAgentSoulRequest,
    example: examples.exportAgent,
    refuses: [
      'NPC_NOT_FOUND',
      'SOUL_EXCHANGE_EXPIRED',
      'SOUL_INVALID',
      'SOUL_TOO_LARGE',
      'SOULS_WAITING',
      'CHAIN_BROKEN',
    ],
    sends: ['Anima-Revision'],
    responses: {
      200: {
        description: 'The soul, or its CID.',
        stream: 'finite',
        schema: ExportedAgentSoul,
        example: examples.exportedAgent,
      },
    },
    handler: async (call) => {
      const stream = agentStream(call);
      const { format, storage, includeMemories, without } = call.body;
      const isBinary = format === 'binary';
      await requireRevision(services.events, call.principal.tenant, call.params.agentId);
      const { keyed, resumed } = call;
      const by = onBehalfOf(call);
      // An export that cannot be completed is not started.
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
