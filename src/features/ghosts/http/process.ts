import { stepGhost } from '../remote-body.js';
import type { PlayCache } from '../remote-steps.js';
import type { Levels } from '../../levels/levels.js';
import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { enterStep } from '../../turns/step-turn.js';
import type { ConversationLimits } from '../../turns/conversation.js';
import type { TurnIndex } from '../../turns/turn-index.js';
import type { VerdictSigner } from '../../turns/verdict-signer.js';
import type { RejectionCode } from '../../../kernel/base/rejection.js';
import { ghostMindStream } from '../../../kernel/base/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import { type Call, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { SessionParams } from './sessions.js';
import { stepAnswers, StepAnswered, StepBody } from '../../turns/answer-step.js';
import { stepExamples } from '../../turns/step-examples.js';

/** The stream of the mind of a session. */
const sessionMind = ({ principal, params }: Call<{ sessionId: string }>): string =>
  ghostMindStream(principal.tenant, params.sessionId);

type GhostStepRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly repository: ProcessRepository;
  readonly turnIndex: TurnIndex;
  readonly runtime: ProcessRuntime;
  readonly levels: Levels;
  readonly ghostPlays: PlayCache;
  readonly signer: VerdictSigner;
  readonly turnDeadlineMs: number;
  readonly conversation: ConversationLimits;
};

/** One step of the multi-round protocol in a session that has a body elsewhere. */
export const ghostStepRoute = (services: GhostStepRouteDeps): RouteDefinition => {
  const { ports, writers, repository, turnIndex: index, runtime, levels, ghostPlays: plays } = services;
  const { turnDeadlineMs, conversation } = services;
  const { clock, events } = ports;
  const deps = { runtime, repository, index, writers, clock, events, turnDeadlineMs, conversation, levels, plays };
  const answerStep = stepAnswers(services);
  return route('POST', '/ghost/:sessionId/process', {
    operationId: 'processGhostStep',
    tag: 'Ghosts',
    summary: 'Play one step of a turn of a ghost, as its body',
    description:
      'As `POST /npcs/{npcId}/process`, for a session that was started with `driver: remote`. Report what your game made of each action in the `context` of the next turn, as `ghost: {position, outcome, reached, done}`. The session is over when the server answers `GHOST_OVER`.',
    scope: 'ghosts',
    ext: true,
    params: SessionParams,
    writesTo: sessionMind,
    enter: (call) => enterStep(runtime, sessionMind(call)),
    body: StepBody,
    deciding: { decidesBy: ['/tape/context', '/tape/npcState'] },
    example: stepExamples.open,
    refuses: [
      ...['GHOST_NOT_FOUND', 'TURN_NOT_FOUND', 'LEVEL_NOT_FOUND', 'GHOST_NOT_REMOTE', 'GHOST_OVER', 'CONFLICT'],
      ...['DATA_TOO_LARGE', 'EVENTS_TOO_LARGE', 'MEMBER_MISSPELT', 'CONCURRENT_NPC_LIMIT', 'CHAIN_BROKEN'],
    ] as readonly RejectionCode[],
    sends: ['Anima-Revision'],
    responses: { 200: StepAnswered },
    handler: (call) => {
      const { sessionId } = call.params;
      const subject = { npcId: sessionId, stream: sessionMind(call) };
      return answerStep(call, subject, (step) => stepGhost(deps, sessionId, step));
    },
  });
};
