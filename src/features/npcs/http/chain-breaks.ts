import { Type } from '@sinclair/typebox';

import { type ChainLook, lookAtChain, recordBreaks } from '../chain-breaks.js';
import { waitForRevision } from '../../../kernel/read-models/read-wait.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { npcStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { type Answer, contextOf, mindStream, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { NpcParams, nullable, oneOf } from '../../../kernel/http/schemas.js';
import { defined } from '../../../kernel/base/defined.js';

const From = Type.Integer({ minimum: 0, description: 'The first revision to look at; default 0.' });

export const ChainBreaks = Type.Object({
  npcId: Type.String(),
  events: Type.Integer({ description: 'How many events were looked at.' }),
  next: Type.Optional(Type.Integer({ description: 'The revision to continue from; absent at the end.' })),
  breaks: Type.Array(
    Type.Object({
      revision: Type.Integer(),
      member: oneOf(['prevHash', 'hash']),
      stored: Type.String({ description: 'What the event carries.' }),
      computed: Type.String({
        description: 'What it should carry: the hash of the event before it, or the hash of what the event holds.',
      }),
      acknowledged: Type.Boolean({ description: 'Whether a `ChainBreakRecorded` in the history names it.' }),
    }),
  ),
});

const answer = (npcId: string, { events, next, breaks, revision }: ChainLook): Answer => ({
  revision,
  body: { npcId, events, ...defined({ next }), breaks },
});

const common = { tag: 'Histories', ext: true, params: NpcParams } as const;

type ChainBreakRouteDeps = { readonly ports: Pick<Ports, 'events' | 'clock'>; readonly writers: StreamWriters };

/** `GET` and `POST /npcs/{npcId}/chain-breaks`: where a mind's hash chain does not fit, and saying that one knows. */
export const chainBreakRoutes = ({ ports, writers }: ChainBreakRouteDeps): readonly RouteDefinition[] => {
  const look = async (stream: string, npcId: string, from: number): Promise<ChainLook> => {
    const found = await lookAtChain(ports.events, stream, from);
    if (found.revision < 0) throw new Rejection('NPC_NOT_FOUND', { details: { npcId } });
    return found;
  };
  return [
    route('GET', '/npcs/:npcId/chain-breaks', {
      ...common,
      operationId: 'findChainBreaks',
      summary: "The breaks in an NPC's hash chain",
      scope: 'audit',
      query: Type.Object({ from: Type.Optional(From) }),
      responses: ok('One page; continue from `next`.', ChainBreaks),
      handler: async (call) => {
        const { npcId } = call.params;
        const stream = npcStream(call.principal.tenant, npcId);
        await waitForRevision(ports.events, stream, minRevision(call));
        return answer(npcId, await look(stream, npcId, call.query.from ?? 0));
      },
    }),
    route('POST', '/npcs/:npcId/chain-breaks', {
      ...common,
      operationId: 'acknowledgeChainBreaks',
      summary: "Record each break of an NPC's hash chain once in its history",
      description: 'The breaks are still reported, as acknowledged. A later change of the same event is another break.',
      scope: 'ops',
      writesTo: mindStream,
      body: Type.Object({ from: nullable(From) }),
      responses: ok('One page of the breaks found, recorded now or before; continue from `next`.', ChainBreaks),
      handler: async (call) => {
        const { npcId } = call.params;
        const stream = npcStream(call.principal.tenant, npcId);
        const found = await look(stream, npcId, call.body.from ?? 0);
        const recorded = await recordBreaks({ ...ports, writers }, stream, contextOf(call), found);
        return { ...answer(npcId, recorded), position: recorded.position };
      },
    }),
  ];
};
