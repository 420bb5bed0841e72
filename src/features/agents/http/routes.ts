import { Type } from '@sinclair/typebox';

import { type AgentDeps, processInput } from '../process-input.js';
import { agentInput, type AgentInput, takeInput } from '../take-input.js';
import { createExpectedRetries } from '../expected-retries.js';
import { listenTo } from '../listening.js';
import type { LiveTexts } from '../live-texts.js';
import type { Engines } from '../../engines/engines.js';
import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import type { ConversationLimits } from '../../turns/conversation.js';
import type { TurnIndex } from '../../turns/turn-index.js';
import { SingleFlight } from '../../../kernel/concurrency/single-flight.js';
import { defined } from '../../../kernel/base/defined.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import type { RejectionCode } from '../../../kernel/base/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import { PlayerSchema } from '../../turns/body-schemas.js';
import { speakerOf } from '../../turns/speaker-of.js';
import { ActionSchema } from '../../turns/protocol-schemas.js';
import { answered, retryOf, phasesOf } from './answer.js';
import { agentExamples as examples } from './examples.js';
import { streamMode } from './stream-mode.js';
import { agentStream, type Call, route, type RouteDefinition, onBehalfOf } from '../../../kernel/http/route.js';
import { EVENT_STREAM, eventStream } from '../../../kernel/http/event-stream.js';
import { onClosed } from '../../../kernel/http/on-closed.js';
import { PLAYER_HEADER } from '../../../kernel/http/headers.js';
import { named } from '../../../kernel/http/named.js';
import { AgentParams, FreeObject, nullable } from '../../../kernel/http/schemas.js';

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

const ProcessInputRequest = named(
  'ProcessInputRequest',
  Type.Object({
    input: Type.String({ minLength: 1, description: 'What the NPC perceives, such as what a player says to it.' }),
    context: nullable(
      Type.Unsafe<JsonObject>({
        ...FreeObject,
        description: 'The situation. Its member `npcState` is merged into the state of the NPC for this turn.',
      }),
    ),
    player: PlayerSchema,
  }),
);
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

type Body = { input: string; context?: JsonObject | null; player?: Json };

/** The state in the context overlays the mind's own; the rest is what is around it. */
const askedOf = (call: Call<{ agentId: string }, unknown, Body>): Promise<AgentInput> => {
  const { npcState, ...context } = call.body.context ?? {};
  const { keyed, resumed } = call;
  const by = onBehalfOf(call);
  const player = speakerOf(call, context);
  return agentInput({
    stream: agentStream(call),
    input: call.body.input,
    context,
    npcState: isObject(npcState) ? npcState : {},
    ...defined({ player }),
    by,
    keyed,
    resumed,
  });
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
      params: AgentParams,
      writesTo: agentStream,
      body: ProcessInputRequest,
      deciding: { decidesBy: ['/context', '/context/npcState'], ignoresRulesetId: true },
      example: examples.input,
      refuses: [
        'CONFLICT',
        'EVENTS_TOO_LARGE',
        'MEMBER_MISSPELT',
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
      handler: async (call) => {
        if (call.wantsStream) {
          const isProvisional = streamMode(call) === 'provisional';
          const asked = await askedOf(call);
          const { requestId, noteWritten } = call;
          const untilMs = clock.monotonicMs() + waitMs;
          const cortex = engineOf(asked.by.tenant);
          const listening = isProvisional && liveTexts !== null ? listenTo(liveTexts, asked.stream, clock) : null;
          // A client that has left before anything was sent never starts the phases.
          onClosed(call.koa, () => listening?.stop());
          const turnId = await takeInput(deps, asked, untilMs);
          const retry = retryOf(deps, asked, turnId);
          onClosed(call.koa, retry.expected);
          const followed = { asked, turnId, requestId, untilMs, noteWritten, cortex, retry, listening };
          return eventStream((signal) => phasesOf(deps, followed, signal));
        }
        const outcome = await processInput(deps, await askedOf(call));
        const { revision, position } = outcome;
        return { revision, position, ...answered(outcome, call.requestId) };
      },
    }),
  ];
};
