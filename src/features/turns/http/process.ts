import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { enterStep, type StepDeps, stepTurn } from '../step-turn.js';
import type { ConversationLimits } from '../conversation.js';
import type { TurnIndex } from '../turn-index.js';
import type { VerdictSigner } from '../verdict-signer.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import { mindStream, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { PLAYER_HEADER } from '../../../kernel/http/headers.js';
import { NpcParams } from '../../../kernel/http/schemas.js';
import { stepAnswers, StepAnswered, StepBody } from '../answer-step.js';
import { stepExamples } from '../step-examples.js';

type ProcessRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly repository: ProcessRepository;
  readonly turnIndex: TurnIndex;
  readonly runtime: ProcessRuntime;
  readonly signer: VerdictSigner;
  readonly turnDeadlineMs: number;
  readonly conversation: ConversationLimits;
};

/** One step of the multi-round protocol. */
export const processRoute = (services: ProcessRouteDeps): RouteDefinition => {
  const { ports, writers, repository, turnIndex: index, runtime, turnDeadlineMs, conversation } = services;
  const { clock, events } = ports;
  const deps: StepDeps = { runtime, repository, index, writers, clock, events, turnDeadlineMs, conversation };
  const answerStep = stepAnswers(services);
  return route('POST', '/npcs/:npcId/process', {
    operationId: 'processStep',
    tag: 'Protocol',
    summary: 'Play one step of a turn',
    description:
      'Send the tape and the result of the last instruction; get the next instruction. A turn takes four requests, which are answered with `IdentifyActor`, `QueryVector`, `ExecuteInference` and `Finalize`. Send each result as `lastResult`, or write it into the tape. Repeating a step returns the same response. Repeating the opening (a tape without `turnId`) opens another turn, unless it has the same `Idempotency-Key`. A step may bring up to 524,288 bytes of JSON: the opening with its actor, or one result.',
    scope: 'npc',
    params: NpcParams,
    writesTo: mindStream,
    enter: (call) => enterStep(runtime, mindStream(call)),
    body: StepBody,
    deciding: { decidesBy: ['/tape/rulesetId', '/tape/context', '/tape/npcState'] },
    example: stepExamples.open,
    refuses: [
      'TURN_NOT_FOUND',
      'CHAIN_BROKEN',
      'CONFLICT',
      'DATA_TOO_LARGE',
      'EVENTS_TOO_LARGE',
      'MEMBER_MISSPELT',
      'CONCURRENT_NPC_LIMIT',
    ],
    reads: [PLAYER_HEADER],
    sends: ['Anima-Revision'],
    responses: { 200: StepAnswered },
    handler: (call) =>
      answerStep(call, { npcId: call.params.npcId, stream: mindStream(call) }, (step) =>
        stepTurn(deps, { ...step, stream: mindStream(call) }),
      ),
  });
};
