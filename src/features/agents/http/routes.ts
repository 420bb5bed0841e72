import { type Static, Type } from '@sinclair/typebox';

import { type AgentDeps, processInput } from '../process-input.js';
import { agentInput, type AgentInput, takeInput } from '../take-input.js';
import { createExpectedRetries } from '../expected-retries.js';
import { listenTo } from '../listening.js';
import { createSentences } from '../sentences.js';
import type { LiveTexts } from '../live-texts.js';
import type { Engines } from '../../engines/engines.js';
import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import type { ConversationLimits } from '../../turns/conversation.js';
import type { TurnIndex } from '../../turns/turn-index.js';
import { SingleFlight } from '../../../kernel/concurrency/single-flight.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { Rejection, type RejectionCode } from '../../../kernel/base/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import { ActionSchema } from '../../turns/protocol-schemas.js';
import { answered, retryOf, phasesOf, shownError } from './answer.js';
import { agentExamples as examples } from './examples.js';
import { perceivedIn, perceivedMembers } from './perceived.js';
import { streamMode, streamWarning } from './stream-mode.js';
import {
  agentStream,
  type Answer,
  type Call,
  route,
  type RouteDefinition,
  onBehalfOf,
} from '../../../kernel/http/route.js';
import { EVENT_STREAM, eventStream } from '../../../kernel/http/event-stream.js';
import { onClosed } from '../../../kernel/http/on-closed.js';
import { PLAYER_HEADER } from '../../../kernel/http/headers.js';
import { named } from '../../../kernel/http/named.js';
import { AgentParams, FreeObject } from '../../../kernel/http/schemas.js';

type AgentRouteDeps = {
  readonly ports: Pick<Ports, 'events' | 'clock' | 'embedder'>;
  readonly writers: StreamWriters;
  readonly repository: ProcessRepository;
  readonly turnIndex: TurnIndex;
  readonly runtime: ProcessRuntime;
  readonly engines: Engines;
  readonly liveTexts: LiveTexts | null;
  readonly turnDeadlineMs: number;
  readonly agentWaitMs: number;
  readonly conversation: ConversationLimits;
};

const ProcessInputRequest = named('ProcessInputRequest', Type.Object(perceivedMembers));
type ProcessBody = Static<typeof ProcessInputRequest>;
const ProcessInputResponse = named(
  'ProcessInputResponse',
  Type.Object({
    dialogue: Type.String({ description: 'What the NPC says.' }),
    action: ActionSchema,
    stateChanges: Type.Unsafe<JsonObject>({
      ...FreeObject,
      description: "A merge patch (RFC 7396) of the NPC's data.",
    }),
    memoriesRecalled: Type.Array(Type.String()),
    turnId: Type.String(),
  }),
);

/** Why an action may be refused. */
const refusedActions: readonly RejectionCode[] = [
  ...(['RULE_REFUSED', 'ACTION_FORBIDDEN', 'ACTION_NOT_ALLOWED', 'ACTION_TOO_LARGE', 'ACTION_TYPE_INVALID'] as const),
  ...(['ACTION_TYPE_MISSING', 'HP_DEPLETED', 'ITEMS_TOO_MANY', 'ITEM_NOT_IN_INVENTORY', 'MANA_INSUFFICIENT'] as const),
  ...(['MOVE_TARGET_MISSING', 'OUT_OF_BOUNDS', 'SPEECH_EMPTY', 'STATE_CHANGE_INVALID', 'TARGET_MISSING'] as const),
  ...(['TARGET_NOT_FOUND', 'ACTION_UNKNOWN', 'ITEM_MISSING', 'PAYLOAD_INVALID', 'TARGET_UNEXPECTED'] as const),
];

/** Whether a player is answered, who is told nothing of the NPC's mind. */
const isPlayers = ({ principal }: Call): boolean => principal.player !== undefined;

const askedOf = (call: Call<{ agentId: string }, unknown, ProcessBody>): Promise<AgentInput> => {
  const { keyed, resumed } = call;
  return agentInput({ ...perceivedIn(call), by: onBehalfOf(call), keyed, resumed });
};

/** `POST /v1/agents/{agentId}/process`: a whole turn on this server. */
export const agentRoutes = (services: AgentRouteDeps): readonly RouteDefinition[] => {
  const { ports, turnIndex: index, engines, liveTexts, agentWaitMs: waitMs, ...open } = services;
  const engineOf: AgentDeps['engineOf'] = (tenant) => engines.engineOf(tenant);
  const { events, clock, embedder } = ports;
  const deps: AgentDeps = {
    ...{ ...open, index, events, clock, embedder, waitMs, engineOf },
    retries: createExpectedRetries(clock),
    openings: new Map(),
    waits: new SingleFlight(),
    sentences: createSentences(),
  };
  const play = async (call: Call<{ agentId: string }, unknown, ProcessBody>): Promise<Answer> => {
    if (call.wantsStream) {
      // What a model writes before it is judged is for the game, not for its players.
      const isProvisional = streamMode(call) === 'provisional' && !isPlayers(call);
      const asked = await askedOf(call);
      const { requestId, noteWritten } = call;
      const isPlayer = isPlayers(call);
      const untilMs = clock.monotonicMs() + waitMs;
      const cortex = engineOf(asked.by.tenant);
      const listening = isProvisional && liveTexts !== null ? listenTo(liveTexts, asked.stream) : null;
      // A client that has left before anything was sent never starts the phases.
      onClosed(call.koa, () => listening?.stop());
      const turnId = await takeInput(deps, asked, untilMs);
      const retry = retryOf(deps, asked, turnId);
      onClosed(call.koa, retry.expected);
      const followed = { asked, turnId, requestId, untilMs, noteWritten, cortex, retry, listening, isPlayer };
      return eventStream((signal) => phasesOf(deps, followed, signal));
    }
    const outcome = await processInput(deps, await askedOf(call));
    const { revision, position } = outcome;
    const shown = answered(outcome, call.requestId, isPlayers(call));
    return { revision, position, headers: streamWarning(call), ...shown };
  };
  return [
    route('POST', '/v1/agents/:agentId/process', {
      operationId: 'processInput',
      // Its text was paid for, and requests that joined one turn would not find it again.
      retention: 'always',
      tag: 'Agents',
      summary: 'Talk to an NPC',
      description:
        'Plays a whole turn on this server: it recalls memories, runs its engine and judges the text. A refused action is answered with 422 and with the code and the details of the refusal. While the engine is down the answer is 503; send the same input again to continue the same turn. With `Accept: text/event-stream`, the phases of the turn are streamed, and the dialogue sentence by sentence.',
      scope: 'npc',
      speaksTo: 'agentId',
      params: AgentParams,
      writesTo: agentStream,
      body: ProcessInputRequest,
      deciding: { decidesBy: ['/context', '/context/npcState'], ignoresRulesetId: true },
      example: examples.input,
      refuses: [
        'CONFLICT',
        'EVENTS_TOO_LARGE',
        'MEMBER_MISSPELT',
        'PLAYER_MISMATCH',
        ...refusedActions,
        'CONCURRENT_NPC_LIMIT',
        'CORTEX_NO_ANSWER',
      ],
      reads: ['X-Anima-Stream', PLAYER_HEADER],
      sends: ['Anima-Revision'],
      responses: {
        200: {
          description: 'What the NPC says and does.',
          schema: ProcessInputResponse,
          example: examples.answer,
          onDemand: EVENT_STREAM,
        },
      },
      handler: (call) =>
        play(call).catch((error: unknown) => {
          throw error instanceof Rejection ? shownError(error, isPlayers(call)) : error;
        }),
    }),
  ];
};
