import { Type } from '@sinclair/typebox';

import { requireRevision } from '../../npcs/find-mind.js';
import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import { waitForStream } from '../../../kernel/read-models/read-wait.js';
import { readTurn, type TurnView } from '../turn-view.js';
import type { RecordedVerdict, VerdictSigner } from '../verdict-signer.js';
import { type WhyDeps, whyOf } from '../why.js';
import { finalizeWire, verdictWire } from '../domain/signature.js';
import { defined } from '../../../kernel/base/defined.js';
import type { Json, JsonObject } from '../../../kernel/base/json.js';
import { npcStream } from '../../../kernel/base/stream-names.js';
import { isChainBroken } from '../../../kernel/streams/event-checks.js';
import type { Ports } from '../../../ports/ports.js';
import { turns } from '../../../../projections/turns.js';
import { waitingTurns } from '../../../../projections/waiting-turns.js';
import { answerList, answerTenantList } from '../../../kernel/http/list-answer.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { pageOf, pageQuery } from '../../../kernel/http/page.js';
import { readMind } from '../../npcs/read-mind.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { NpcParams, oneOf, TurnParams } from '../../../kernel/http/schemas.js';
import { turnExamples as examples } from './turn-examples.js';
import { Turn, turnStates, TurnSummaryList, WhySchema } from './turn-schemas.js';

/** A row without what only the read model needs. */
const summaryOf = (row: Json): JsonObject => {
  const { stream: _stream, revision: _revision, position: _position, ...shown } = row as JsonObject;
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
      summary: "List an NPC's turns",
      description: 'Newest first.',
      params: NpcParams,
      query: Type.Object({
        ...pageQuery,
        state: Type.Optional(oneOf(turnStates)),
      }),
      refuses: ['NPC_NOT_FOUND'],
      reads: ['Anima-Min-Revision'],
      sends: ['Anima-Revision'],
      responses: {
        200: { description: 'The turns.', schema: TurnSummaryList, example: examples.list, stream: 'finite' },
      },
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
      summary: 'Get a turn',
      description: 'Round by round, with what its verdict was based on.',
      params: TurnParams,
      refuses: ['NPC_NOT_FOUND', 'TURN_NOT_FOUND', 'CHAIN_BROKEN'],
      reads: ['Anima-Min-Revision'],
      sends: ['Anima-Revision'],
      responses: ok('The turn.', Turn, examples.turn),
      handler: async (call) => {
        const { tenant, npcId, revision } = await readMind(ports.events, call);
        const turn = await readTurn({ events: ports.events, repository }, tenant, npcId, call.params.turnId);
        return { revision, body: await present(tenant, turn) };
      },
    }),
  ];
};

/** The signature of a verdict; none if the store holds something else than was recorded: reading the rest is not refused. */
const signedIfGood = async (
  signer: VerdictSigner,
  recorded: RecordedVerdict,
): Promise<{ readonly signature: string | null; readonly broken?: true }> => {
  try {
    return { signature: await signer.sign(recorded) };
  } catch (error) {
    if (isChainBroken(error)) return { signature: null, broken: true };
    throw error;
  }
};

/** `GET /turns`. */
export const openTurnsRoute = ({ ports }: Pick<TurnRouteDeps, 'ports'>): RouteDefinition =>
  route('GET', '/turns', {
    ...common,
    tag: 'Search',
    operationId: 'listOpenTurns',
    summary: 'List the open turns of all NPCs',
    description: 'Oldest first.',
    query: Type.Object({
      ...pageQuery,
      state: Type.Optional({ ...oneOf(['open']), description: 'The default, and the only value.' }),
    }),
    responses: {
      200: { description: 'The turns.', schema: TurnSummaryList, example: examples.open, stream: 'finite' },
    },
    handler: (call) =>
      answerTenantList(call, ports.readModels, {
        projection: waitingTurns,
        query: { direction: 'ascending' },
        show: summaryOf,
      }),
  });

/** `GET /npcs/{npcId}/verdicts/{turnId}/why`. */
export const whyRoute = (deps: WhyDeps & { readonly signer: VerdictSigner }): RouteDefinition =>
  route('GET', '/npcs/:npcId/verdicts/:turnId/why', {
    ...common,
    operationId: 'why',
    summary: 'Explain a turn',
    description:
      'Everything that the turn was based on, from the record alone: what the NPC perceived, its mind at that time, every rule with the values that it compared, the memories with their scores and causes, the prompt, the text of the model, the checks, the verdict, and what it changed.',
    params: TurnParams,
    refuses: ['NPC_NOT_FOUND', 'TURN_NOT_FOUND'],
    reads: ['Anima-Min-Revision'],
    sends: ['Anima-Revision'],
    responses: ok('The grounds. Members that the turn does not have yet are null or empty.', WhySchema, examples.why),
    handler: async (call) => {
      const { turnId } = call.params;
      const { tenant, npcId, revision } = await readMind(deps.events, call);
      const { turn, broken, ...grounds } = await whyOf(deps, tenant, npcId, turnId);
      const { verdict: rested, rounds: _rounds, ...about } = turn;
      const said = rested && { tenant, npcId, turnId, observation: turn.observation, verdict: rested.verdict };
      const signed =
        rested && said
          ? await signedIfGood(deps.signer, rested.signing ? { ...said, signing: rested.signing } : said)
          : null;
      return {
        revision,
        body: {
          ...about,
          ...grounds,
          ...defined({ broken: broken ?? signed?.broken }),
          checks: rested?.grounds.checks ?? [],
          ...defined({ replacedBy: rested?.grounds.replacedBy, stateBreaks: rested?.grounds.stateBreaks }),
          verdict: rested && verdictWire(rested.verdict, signed?.signature ?? null),
        },
      };
    },
  });
