import { Type } from '@sinclair/typebox';

import { requireRevision } from '../../app/minds/minds.js';
import { waitForRevision, waitForStream } from '../../app/read-models/read-wait.js';
import { readTurn, type TurnView } from '../../app/turns/turn-view.js';
import { finalizeWire, verdictWire } from '../../domain/npc/signature.js';
import type { Json, JsonObject } from '../../domain/shared/json.js';
import { npcStream } from '../../domain/shared/stream-names.js';
import { turns } from '../../../projections/turns.js';
import { answerList } from '../list-answer.js';
import { minRevision } from '../min-revision.js';
import { pageOf, pageQuery } from '../page.js';
import { ok, route, type RouteDefinition } from '../route.js';
import { FreeObject, NpcParams, oneOf, openObject, TurnParams } from '../schemas.js';
import type { Services } from '../services.js';

const states = ['awaitingActor', 'awaitingMemories', 'awaitingInference', 'ended', 'expired'] as const;

const summary = {
  turnId: Type.String(),
  npcId: Type.String(),
  kind: Type.String({ description: 'process, directive, context or verdict' }),
  state: Type.String({ description: states.join(', ') }),
  openedAt: Type.String({ format: 'date-time' }),
  deadlineAt: Type.String({ format: 'date-time' }),
  endedAt: Type.Optional(Type.String({ format: 'date-time' })),
  resumedFrom: Type.Optional(Type.String()),
  ruleset: Type.Union([Type.Object({ rulesetId: Type.String(), version: Type.Integer() }), Type.Null()]),
};
const TurnSummary = openObject(summary);
const Turn = openObject({
  ...summary,
  rounds: Type.Array(
    Type.Object({
      round: Type.Integer(),
      revision: Type.Integer(),
      at: Type.String({ format: 'date-time' }),
      result: Type.Union([FreeObject, Type.Null()]),
      instruction: FreeObject,
    }),
  ),
  verdict: Type.Union([FreeObject, Type.Null()]),
});

/** A row without what only the read model needs. */
const summaryOf = (row: Json): JsonObject => {
  const { stream: _stream, revision: _revision, ...shown } = row as JsonObject;
  return shown;
};

const common = { tag: 'Histories', scope: 'audit', ext: true } as const;

/** `GET /npcs/{npcId}/turns` and `/turns/{turnId}` (contract 10.1). */
export const turnRoutes = ({ ports, journal, signer }: Services): readonly RouteDefinition[] => {
  const present = async (tenant: string, view: TurnView) => {
    const { verdict: rested, ...turn } = view;
    if (rested === null) return { ...turn, verdict: null };
    const { verdict, grounds, generatedOutput, signing } = rested;
    const said = { tenant, npcId: turn.npcId, turnId: turn.turnId, observation: turn.observation, verdict };
    const signature = await signer.sign(signing === undefined ? said : { ...said, signing });
    const finalize = { type: 'Finalize', ...finalizeWire(verdict, signature) };
    return {
      ...turn,
      rounds: turn.rounds.map((round, index) =>
        index === turn.rounds.length - 1 ? { ...round, instruction: finalize } : round,
      ),
      verdict: { ...verdictWire(verdict, signature), ...grounds, generatedOutput },
    };
  };
  return [
    route({
      ...common,
      operationId: 'listTurns',
      method: 'GET',
      path: '/npcs/:npcId/turns',
      summary: "An NPC's turns, newest first",
      params: NpcParams,
      query: Type.Object({
        ...pageQuery,
        state: Type.Optional(oneOf(states)),
      }),
      responses: { 200: { description: 'The turns.', schema: Type.Array(TurnSummary), stream: 'finite' } },
      handler: async (call) => {
        const page = pageOf(call.query);
        const { npcId } = call.params;
        const { tenant } = call.principal;
        const revision = await requireRevision(ports.events, tenant, npcId);
        const stream = npcStream(tenant, npcId);
        await waitForStream(ports, turns, stream, minRevision(call));
        const answer = await answerList(call, page, {
          readModels: ports.readModels,
          projection: turns,
          query: {
            partition: stream,
            direction: 'descending',
            ...(call.query.state === undefined ? {} : { tags: [call.query.state] }),
          },
          show: summaryOf,
        });
        return { ...answer, revision };
      },
    }),
    route({
      ...common,
      operationId: 'getTurn',
      method: 'GET',
      path: '/npcs/:npcId/turns/:turnId',
      summary: 'One turn, round by round, with what its verdict was based on',
      params: TurnParams,
      responses: ok('The turn.', Turn),
      handler: async (call) => {
        const { npcId, turnId } = call.params;
        const { tenant } = call.principal;
        const revision = await requireRevision(ports.events, tenant, npcId);
        await waitForRevision(ports.events, npcStream(tenant, npcId), minRevision(call));
        return {
          revision,
          body: await present(tenant, await readTurn({ events: ports.events, journal }, tenant, npcId, turnId)),
        };
      },
    }),
  ];
};
