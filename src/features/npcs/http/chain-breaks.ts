import { Type } from '@sinclair/typebox';

import { type ChainLook, lookAtChain, recordBreaks } from '../chain-breaks.js';
import { waitForRevision } from '../../../kernel/read-models/read-wait.js';
import type { EventChecks } from '../../../kernel/streams/event-checks.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { npcStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { type Answer, contextOf, mindStream, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { named } from '../../../kernel/http/named.js';
import { NpcParams, nullable, oneOf } from '../../../kernel/http/schemas.js';
import { chainBreakExamples as examples } from './examples.js';
import { defined } from '../../../kernel/base/defined.js';

/** The longest reason for an acknowledgement, in characters. */
const MAX_REASON_CHARS = 500;

const From = Type.Integer({ minimum: 0, description: 'The first revision to check; 0 by default.' });

const ChainBreak = named(
  'ChainBreak',
  Type.Object({
    revision: Type.Integer(),
    member: oneOf(['prevHash', 'hash']),
    stored: Type.String({ description: 'The value in the event; empty if that is not a hash.' }),
    computed: Type.String({
      description:
        'The value that it should be: the hash of the previous event, or of the content of this one. Content that no server records has no hash; the value then only names it.',
    }),
    acknowledged: Type.Boolean({ description: 'Whether a `ChainBreakRecorded` event in the history names it.' }),
  }),
);

export const ChainBreaks = named(
  'ChainBreaks',
  Type.Object({
    npcId: Type.String(),
    events: Type.Integer({ description: 'How many events were checked.' }),
    next: Type.Optional(Type.Integer({ description: 'The revision to continue from; absent at the end.' })),
    breaks: Type.Array(ChainBreak),
  }),
);
const AcknowledgeChainBreaksRequest = named(
  'AcknowledgeChainBreaksRequest',
  Type.Object({
    from: nullable(From),
    reason: nullable(
      Type.String({ minLength: 1, maxLength: MAX_REASON_CHARS, description: 'Why the breaks are acknowledged.' }),
    ),
  }),
);

const answer = (npcId: string, { events, next, breaks, revision }: ChainLook): Answer => ({
  revision,
  body: {
    npcId,
    events,
    ...defined({ next }),
    breaks: breaks.map((one) => ({ ...one, acknowledged: one.acknowledged !== null })),
  },
});

const common = {
  tag: 'Histories',
  ext: true,
  params: NpcParams,
  refuses: ['NPC_NOT_FOUND'],
} as const;

type ChainBreakRouteDeps = {
  readonly ports: Pick<Ports, 'events' | 'clock'>;
  readonly writers: StreamWriters;
  readonly checks: Pick<EventChecks, 'requireGood'>;
};

/** `GET` and `POST /npcs/{npcId}/chain-breaks`: finds and acknowledges breaks in a mind's hash chain. */
export const chainBreakRoutes = ({ ports, writers, checks }: ChainBreakRouteDeps): readonly RouteDefinition[] => {
  const look = async (stream: string, npcId: string, from: number): Promise<ChainLook> => {
    const found = await lookAtChain({ events: ports.events, checks }, stream, from);
    if (found.revision < 0) throw new Rejection('NPC_NOT_FOUND', { details: { npcId } });
    return found;
  };
  return [
    route('GET', '/npcs/:npcId/chain-breaks', {
      ...common,
      operationId: 'findChainBreaks',
      summary: "Find breaks in an NPC's hash chain",
      scope: 'audit',
      query: Type.Object({ from: Type.Optional(From) }),
      reads: ['Anima-Min-Revision'],
      sends: ['Anima-Revision'],
      responses: ok('One page; continue from `next`.', ChainBreaks, examples.found),
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
      summary: "Acknowledge the breaks in an NPC's hash chain",
      description:
        'Records each break once in the history. The breaks are still reported, marked as acknowledged. If the same event changes later, that is a new break.',
      scope: 'acknowledge',
      writesTo: mindStream,
      body: AcknowledgeChainBreaksRequest,
      example: examples.acknowledge,
      refuses: ['NPC_NOT_FOUND', 'CONFLICT'],
      sends: ['Anima-Revision'],
      responses: ok(
        'One page of the breaks, recorded now or earlier; continue from `next`.',
        ChainBreaks,
        examples.found,
      ),
      handler: async (call) => {
        const { npcId } = call.params;
        const stream = npcStream(call.principal.tenant, npcId);
        const found = await look(stream, npcId, call.body.from ?? 0);
        const reason = call.body.reason ?? undefined;
        const recorded = await recordBreaks({ ...ports, writers, checks }, stream, contextOf(call), found, reason);
        return { ...answer(npcId, recorded), position: recorded.position };
      },
    }),
  ];
};
