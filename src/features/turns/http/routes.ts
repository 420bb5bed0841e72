import { Type } from '@sinclair/typebox';

import { requireRevision } from '../../npcs/find-mind.js';
import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import { waitForStream } from '../../../kernel/read-models/read-wait.js';
import { readTurn, type TurnView } from '../turn-view.js';
import type { VerdictSigner } from '../verdict-signer.js';
import { type WhyDeps, whyOf } from '../why.js';
import { finalizeWire, verdictWire } from '../domain/signature.js';
import type { Json, JsonObject } from '../../../kernel/base/json.js';
import { npcStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import { turns } from '../../../../projections/turns.js';
import { answerList } from '../../../kernel/http/list-answer.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { pageOf, pageQuery } from '../../../kernel/http/page.js';
import { readMind } from '../../npcs/read-mind.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { FreeObject, NpcParams, nullable, oneOf, openObject, TurnParams } from '../../../kernel/http/schemas.js';

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

type TurnRouteDeps = { readonly ports: Ports; readonly repository: ProcessRepository; readonly signer: VerdictSigner };

/** `GET /npcs/{npcId}/turns` and `/turns/{turnId}`. */
export const turnRoutes = ({ ports, repository, signer }: TurnRouteDeps): readonly RouteDefinition[] => {
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
    route('GET', '/npcs/:npcId/turns', {
      ...common,
      operationId: 'listTurns',
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
    route('GET', '/npcs/:npcId/turns/:turnId', {
      ...common,
      operationId: 'getTurn',
      summary: 'One turn, round by round, with what its verdict was based on',
      params: TurnParams,
      responses: ok('The turn.', Turn),
      handler: async (call) => {
        const { tenant, npcId, revision } = await readMind(ports.events, call);
        const turn = await readTurn({ events: ports.events, repository }, tenant, npcId, call.params.turnId);
        return { revision, body: await present(tenant, turn) };
      },
    }),
  ];
};

const Shown = openObject({});

/** `GET /npcs/{npcId}/verdicts/{turnId}/why`. */
export const whyRoute = (deps: WhyDeps & { readonly signer: VerdictSigner }): RouteDefinition =>
  route('GET', '/npcs/:npcId/verdicts/:turnId/why', {
    ...common,
    operationId: 'why',
    summary: 'Everything that a turn rested on',
    description:
      'Made from the record alone: what was perceived, the mind as it was, every rule with what it saw, the memories with their scores and causes, the prompt, the words of the model, the checks, the verdict, and what it changed.',
    params: TurnParams,
    responses: ok(
      'What it rested on; members that the turn does not have (yet) are null or empty.',
      openObject({
        npcId: Type.String(),
        turnId: Type.String(),
        kind: Type.String(),
        state: Type.String(),
        observation: Type.String(),
        mind: openObject({ revision: Type.Integer() }),
        rulesetMissing: Type.Optional(Type.String()),
        rules: Type.Array(Shown),
        memories: Type.Array(Shown),
        prompt: nullable(FreeObject),
        model: nullable(FreeObject),
        checks: Type.Array(Shown),
        verdict: nullable(FreeObject),
        mismatches: Type.Array(Shown),
        stateChange: nullable(FreeObject),
        memoriesStored: Type.Array(Shown),
        events: Type.Array(Shown),
      }),
    ),
    handler: async (call) => {
      const { turnId } = call.params;
      const { tenant, npcId, revision } = await readMind(deps.events, call);
      const { turn, ...grounds } = await whyOf(deps, tenant, npcId, turnId);
      const { verdict: rested, rounds: _rounds, ...about } = turn;
      const said = rested && { tenant, npcId, turnId, observation: turn.observation, verdict: rested.verdict };
      const signature =
        rested && said && (await deps.signer.sign(rested.signing ? { ...said, signing: rested.signing } : said));
      return {
        revision,
        body: {
          ...about,
          ...grounds,
          checks: rested?.grounds.checks ?? [],
          verdict: rested && verdictWire(rested.verdict, signature),
        },
      };
    },
  });
