import { Type } from '@sinclair/typebox';

import { followTurn } from '../../app/agents/follow-turn.js';
import { type AgentDeps, type AgentOutcome, processInput, noVerdictYet } from '../../app/agents/process-input.js';
import { type AgentInput, sameInput, takeInput } from '../../app/agents/take-input.js';
import { createUnanswered } from '../../app/agents/unanswered.js';
import { SharedWork } from '../../app/pacing/shared-work.js';
import { isObject, type JsonObject } from '../../domain/shared/json.js';
import { Rejection, type RejectionCode, rejections } from '../../domain/shared/rejection.js';
import { agentStream, contextOf } from '../command-context.js';
import { EVENT_STREAM, eventStream } from '../event-stream.js';
import { errorBody } from '../on-error.js';
import { type Call, type RouteDefinition, route } from '../route.js';
import type { Services } from '../services.js';
import { AgentParams, FreeObject, nullable } from '../schemas.js';

type Body = { input: string; context?: JsonObject | null };

/** The state in the context overlays the mind's own; the rest is what is around it. */
const askedOf = (call: Call<{ agentId: string }, unknown, Body>): AgentInput => {
  const { npcState, ...context } = call.body.context ?? {};
  const { keyed, resumed, ...by } = contextOf(call);
  return {
    stream: agentStream(call),
    input: call.body.input,
    context,
    npcState: isObject(npcState) ? npcState : {},
    by,
    keyed,
    resumed,
  };
};

/**
 * What the client is told of a turn that has ended (contract 7.1).
 * @throws Rejection the code of the refusal, when the verdict was none
 */
const answerOf = ({ turnId, verdict, memories }: Omit<AgentOutcome, 'revision' | 'position'>) => {
  if (!verdict.valid) throw refused(verdict);
  return {
    dialogue: verdict.dialogue,
    action: verdict.action ?? { type: 'SPEAK' },
    stateChanges: verdict.stateDelta,
    memoriesRecalled: memories.map(({ text }) => text),
    turnId,
  };
};

const refused = ({ code = 'RULE_REFUSED', dialogue, details }: AgentOutcome['verdict']): Rejection => {
  const known: RejectionCode = Object.hasOwn(rejections, code) ? (code as RejectionCode) : 'RULE_REFUSED';
  return new Rejection(known, { message: dialogue, ...(details === undefined ? {} : { details }) });
};

const eventOf = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

type Following = {
  readonly asked: AgentInput;
  readonly turnId: string;
  readonly requestId: string;
  /** When the answer must be there, on the monotonic clock. */
  readonly untilMs: number;
};

/** The phases of a turn as Server-Sent Events (contract 7.1). */
const phasesOf = async function* (
  deps: AgentDeps,
  { asked, turnId, requestId, untilMs }: Following,
  left: AbortSignal,
): AsyncGenerator<string> {
  const engine = deps.engineOf(asked.by.tenant);
  let isAnswered = false;
  yield eventOf('opened', { turnId });
  const late = new AbortController();
  const cancel = deps.clock.after(Math.max(untilMs - deps.clock.monotonicMs(), 0), () => late.abort());
  try {
    for await (const phase of followTurn(deps.events, asked.stream, turnId, AbortSignal.any([left, late.signal]))) {
      switch (phase.phase) {
        case 'recalled':
          yield eventOf('recalled', { turnId, memories: phase.memories.map(({ text }) => text) });
          yield eventOf('thinking', { turnId });
          break;
        case 'ended':
          isAnswered = true;
          yield eventOf('verdict', answerOf({ turnId, ...phase }));
          return;
        case 'expired':
          throw noVerdictYet(turnId, engine);
      }
    }
    if (!left.aborted) throw noVerdictYet(turnId, engine);
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    yield eventOf('error', errorBody(error, requestId));
  } finally {
    if (!isAnswered) deps.unanswered.noted(sameInput(asked), turnId);
    cancel();
  }
};

/** `POST /v1/agents/{agentId}/process`: a whole turn on this server (contract 7.1). */
export const agentRoutes = (services: Services): readonly RouteDefinition[] => {
  const { ports, turnIndex: index, engines, agentWaitMs: waitMs, ...open } = services;
  const engineOf: AgentDeps['engineOf'] = (tenant) => engines.engineOf(tenant);
  const { events, clock } = ports;
  const deps: AgentDeps = {
    ...{ ...open, index, events, clock, waitMs, engineOf },
    unanswered: createUnanswered(clock),
    openings: new SharedWork(),
    waits: new SharedWork(),
  };
  return [
    route({
      operationId: 'processInput',
      method: 'POST',
      path: '/v1/agents/:agentId/process',
      tag: 'Agents',
      summary: 'Say something to an NPC, and hear what it answers',
      description:
        'The server recalls, asks its engine for the words and decides on them. A refused action is 422 with the code and the details of the refusal. While the engine is down it is 503, and the same input goes on with the same turn.',
      scope: 'npc',
      params: AgentParams,
      writesTo: agentStream,
      body: Type.Object({
        input: Type.String({ minLength: 1, description: 'What the NPC perceives, such as what is said to it.' }),
        context: nullable(FreeObject),
      }),
      responses: {
        200: {
          description: 'What the NPC says and does.',
          schema: Type.Object({
            dialogue: Type.String(),
            action: Type.Object({ type: Type.String() }, { additionalProperties: true }),
            stateChanges: FreeObject,
            memoriesRecalled: Type.Array(Type.String()),
            turnId: Type.String(),
          }),
          onDemand: EVENT_STREAM,
        },
      },
      handler: async (call) => {
        if (call.wantsStream) {
          const asked = askedOf(call);
          const { requestId } = call;
          const untilMs = clock.monotonicMs() + waitMs;
          const turnId = await takeInput(deps, asked, untilMs);
          return eventStream((signal) => phasesOf(deps, { asked, turnId, requestId, untilMs }, signal));
        }
        const outcome = await processInput(deps, askedOf(call));
        const { revision, position } = outcome;
        return { revision, position, body: answerOf(outcome) };
      },
    }),
  ];
};
