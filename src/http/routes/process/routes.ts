import { type Static, Type } from '@sinclair/typebox';

import { stepGhost } from '../../../app/ghosts/remote-body.js';
import type { PlayCache } from '../../../app/ghosts/remote-steps.js';
import type { Levels } from '../../../app/levels/levels.js';
import type { ProcessRepository } from '../../../app/processes/process-repository.js';
import type { StreamWriters } from '../../../app/streams/stream-writers.js';
import { enterStep, type Stepped, stepTurn } from '../../../app/turns/step-turn.js';
import type { TurnIndex } from '../../../app/turns/turn-index.js';
import type { VerdictSigner } from '../../../app/turns/verdict-signer.js';
import { finalizeWire } from '../../../domain/npc/signature.js';
import type { Tape } from '../../../domain/npc/tape.js';
import { ghostMindStream, npcStream } from '../../../domain/shared/stream-names.js';
import type { Ports } from '../../../ports/ports.js';
import type { ProcessRuntime } from '../../../ports/process-runtime.js';
import { type Call, mindStream, route, type RouteDefinition, onBehalfOf } from '../../route.js';
import { NpcParams, nullable, openObject } from '../../schemas.js';
import { withHeaders, resultTypeWarning, rulesetWarning } from '../../warning.js';
import { SessionParams } from '../ghosts.js';
import { meantType, resultOf, ResultSchema, tapeOf, TapeSchema } from './tape.js';
import { defined } from '../../../domain/shared/defined.js';

const Instruction = openObject({
  type: Type.String({ description: 'IdentifyActor, QueryVector, ExecuteInference or Finalize' }),
});

const StepBody = Type.Object({ tape: TapeSchema, lastResult: nullable(ResultSchema) });
const StepAnswered = {
  description: 'What the body does next, and the tape as the mind knows it.',
  schema: Type.Object({ instruction: Instruction, tape: openObject({}) }),
};

/** The stream of the mind of a session. */
const sessionMind = ({ principal, params }: Call<{ sessionId: string }>): string =>
  ghostMindStream(principal.tenant, params.sessionId);

type ProcessRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly repository: ProcessRepository;
  readonly turnIndex: TurnIndex;
  readonly runtime: ProcessRuntime;
  readonly signer: VerdictSigner;
  readonly turnDeadlineMs: number;
  readonly levels: Levels;
  readonly ghostPlays: PlayCache;
};

/** One step of the multi-round protocol, of an NPC (contract 2.2) and of a ghost session that has a body (contract 9.6). */
export const processRoutes = (services: ProcessRouteDeps): readonly RouteDefinition[] => {
  const { ports, writers, repository, turnIndex, runtime, signer, turnDeadlineMs } = services;
  const { clock, events } = ports;
  const { levels, ghostPlays: plays } = services;
  const deps = { runtime, repository, index: turnIndex, writers, clock, events, turnDeadlineMs, levels, plays };
  const instructionOf = async (tenant: string, npcId: string, answer: Stepped['answer']) => {
    const { instruction, turnId, signing } = answer;
    if (instruction.type !== 'Finalize') return instruction;
    const { verdict } = instruction;
    const recorded = { tenant, npcId, turnId, observation: answer.observation, verdict };
    const signature = await signer.sign(signing === undefined ? recorded : { ...recorded, signing });
    return { type: 'Finalize', ...finalizeWire(verdict, signature) };
  };
  /** What both routes answer; `npcId` is whom the verdict is about. */
  const answerOf = async (
    tenant: string,
    npcId: string,
    sent: Static<typeof StepBody>,
    tape: Tape,
    stepped: Stepped,
  ) => {
    const { answer, revision, position } = stepped;
    const headers = withHeaders(rulesetWarning(answer.rulesetMissing), resultTypeWarning(meantType(sent.lastResult)));
    return {
      revision,
      position,
      headers,
      body: {
        instruction: await instructionOf(tenant, npcId, answer),
        tape: {
          ...tape.extra,
          ...defined({ rulesetId: tape.rulesetId }),
          ...answer.tape,
        },
      },
    };
  };
  return [
    route('POST', '/npcs/:npcId/process', {
      operationId: 'processStep',
      tag: 'Protocol',
      summary: 'One step of a turn: send the tape and the last result, get the next instruction',
      description:
        'A turn takes four requests: `IdentifyActor`, `QueryVector`, `ExecuteInference`, `Finalize`. Send each result as `lastResult`, or write it into the tape. A repeated step gets the same answer. A repeated opening (a tape without its `turnId`) opens another turn, unless it carries the same `Idempotency-Key`. A step brings at most 524,288 bytes of JSON: the opening with its actor, or one result.',
      scope: 'npc',
      params: NpcParams,
      writesTo: mindStream,
      enter: (call) => enterStep(runtime, mindStream(call)),
      body: StepBody,
      responses: { 200: StepAnswered },
      handler: async (call) => {
        const { npcId } = call.params;
        const { tenant } = call.principal;
        const tape = tapeOf(call.body.tape);
        const { keyed, resumed } = call;
        const by = onBehalfOf(call);
        const result = resultOf(call.body.lastResult);
        const stepped = await stepTurn(deps, { stream: npcStream(tenant, npcId), tape, result, by, keyed, resumed });
        return answerOf(tenant, npcId, call.body, tape, stepped);
      },
    }),
    route('POST', '/ghost/:sessionId/process', {
      operationId: 'processGhostStep',
      tag: 'Ghosts',
      summary: "One step of a turn of a ghost whose body is the studio's own game",
      description:
        "As `POST /npcs/{npcId}/process`, for a session that was run with `driver: remote`. What the game's world made of things goes into the `context` of the next turn, as `ghost: {position, outcome, reached, done}`. `GHOST_OVER` says that there is nothing more to do.",
      scope: 'ghosts',
      ext: true,
      params: SessionParams,
      writesTo: sessionMind,
      enter: (call) => enterStep(runtime, sessionMind(call)),
      body: StepBody,
      responses: { 200: StepAnswered },
      handler: async (call) => {
        const { sessionId } = call.params;
        const tape = tapeOf(call.body.tape);
        const { keyed, resumed } = call;
        const by = onBehalfOf(call);
        const result = resultOf(call.body.lastResult);
        const stepped = await stepGhost(deps, sessionId, { tape, result, by, keyed, resumed });
        return answerOf(call.principal.tenant, sessionId, call.body, tape, stepped);
      },
    }),
  ];
};
