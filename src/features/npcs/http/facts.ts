import { Type } from '@sinclair/typebox';

import { requireReport } from '../domain/decide.js';
import { requireMind } from '../find-mind.js';
import { readMind } from '../read-mind.js';
import { isUnfinished, type ReportOutcome, reportOn, reportOnMany } from '../report-facts.js';
import { takeRecordable } from '../../../kernel/streams/take-recordable.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import type { Ports } from '../../../ports/ports.js';
import { contextOf, mindStream, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { named } from '../../../kernel/http/named.js';
import { clientMessageOf } from '../../../kernel/http/rejections.js';
import { ClientId, FreeObject, NpcParams } from '../../../kernel/http/schemas.js';
import { factsExamples as examples } from './examples.js';

/** How many NPCs one report may be about. */
const MOST_NPCS = 1_000;

const Patch = Type.Unsafe<JsonObject>({
  ...FreeObject,
  description: 'A merge patch (RFC 7396) of the facts: members replace, null removes, objects merge. At most 64 KiB.',
});
const ReportFactsRequest = named('ReportFactsRequest', Type.Object({ facts: Patch }));
const Facts = named(
  'Facts',
  Type.Object({
    npcId: Type.String(),
    facts: Type.Unsafe<JsonObject>({ ...FreeObject, description: 'All facts, `{}` if there are none.' }),
    revision: Type.Integer({ description: 'The revision of the NPC that this includes; -1 if it has no events.' }),
  }),
);
const ReportManyRequest = named(
  'ReportFactsOfManyRequest',
  Type.Object({
    npcIds: Type.Array(ClientId, {
      minItems: 1,
      maxItems: MOST_NPCS,
      description: 'The NPCs that the facts are about. An NPC that is named twice counts once.',
    }),
    facts: Patch,
  }),
);
const ReportResult = named(
  'FactsReport',
  Type.Object({
    npcId: Type.String(),
    revision: Type.Optional(Type.Integer({ description: 'The revision of the NPC that includes the report.' })),
    error: Type.Optional(
      Type.Object(
        { code: Type.String(), message: Type.String() },
        { description: 'Why this NPC refused the report; then `revision` is absent.' },
      ),
    ),
  }),
);
const ReportedMany = named('FactsOfMany', Type.Object({ results: Type.Array(ReportResult) }));

const shown = (outcome: ReportOutcome) =>
  'refused' in outcome
    ? { npcId: outcome.npcId, error: { code: outcome.refused.code, message: clientMessageOf(outcome.refused) } }
    : outcome;

const common = { tag: 'Facts', ext: true } as const;

type FactsRouteDeps = { readonly ports: Pick<Ports, 'events' | 'clock'>; readonly writers: StreamWriters };

/** `GET` and `POST /npcs/{npcId}/facts`, `POST /facts`. */
export const factsRoutes = ({ ports, writers }: FactsRouteDeps): readonly RouteDefinition[] => [
  route('GET', '/npcs/:npcId/facts', {
    ...common,
    operationId: 'getFacts',
    summary: 'Get the facts of an NPC',
    scope: 'npc',
    params: NpcParams,
    refuses: ['NPC_NOT_FOUND'],
    reads: ['Anima-Min-Revision'],
    sends: ['Anima-Revision'],
    responses: ok('The facts, including every report that was acknowledged.', Facts, examples.reported),
    handler: async (call) => {
      const { tenant, npcId } = await readMind(ports.events, call);
      const { facts, revision } = await requireMind(writers, tenant, npcId);
      return { revision, body: { npcId, facts: facts ?? {}, revision } };
    },
  }),
  route('POST', '/npcs/:npcId/facts', {
    ...common,
    operationId: 'reportFacts',
    summary: 'Report facts about an NPC',
    description:
      'Only this changes the facts of an NPC: no text of a player or a model does. A report that changes nothing records nothing. The facts may have up to 65,536 bytes of JSON.',
    scope: 'facts',
    params: NpcParams,
    body: ReportFactsRequest,
    example: examples.report,
    refuses: ['CONFLICT', 'EVENTS_TOO_LARGE', 'FACTS_TOO_LARGE', 'SOUL_ARRIVING'],
    sends: ['Anima-Revision'],
    responses: ok('All facts of the NPC after the report.', Facts, examples.reported),
    writesTo: mindStream,
    handler: async (call) => {
      const { npcId } = call.params;
      await takeRecordable(call.body.facts);
      requireReport(call.body.facts);
      const reported = await reportOn({ ...ports, writers }, contextOf(call), npcId, call.body.facts);
      const { facts, revision, position } = reported;
      return { revision, position, body: { npcId, facts, revision } };
    },
  }),
  route('POST', '/facts', {
    ...common,
    operationId: 'reportFactsOfMany',
    summary: 'Report the same facts about many NPCs',
    description:
      'Each NPC records the report separately, so some may refuse it while others record it. The results are in the order of `npcIds`. If the request is refused or its response is lost, send it again under the same `Idempotency-Key`: each NPC records the report once.',
    scope: 'facts',
    body: ReportManyRequest,
    example: examples.reportMany,
    refuses: ['EVENTS_TOO_LARGE', 'FACTS_TOO_LARGE'],
    responses: ok('What became of the report, for each NPC.', ReportedMany, examples.reportedMany),
    writesWidely: true,
    handler: async (call) => {
      const { facts } = call.body;
      await takeRecordable(facts);
      requireReport(facts);
      const npcIds = [...new Set(call.body.npcIds)];
      const reported = await reportOnMany({ ...ports, writers }, contextOf(call), npcIds, facts);
      return {
        position: reported.position,
        body: { results: reported.outcomes.map(shown) },
        isPassing: isUnfinished(reported),
      };
    },
  }),
];
