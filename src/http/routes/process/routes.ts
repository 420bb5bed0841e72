import { Type } from '@sinclair/typebox';

import { enterStep, type Stepped, stepTurn } from '../../../app/turns/step-turn.js';
import { finalizeWire } from '../../../domain/npc/signature.js';
import { npcStream } from '../../../domain/shared/stream-names.js';
import { contextOf, mindStream } from '../../command-context.js';
import { type RouteDefinition, route } from '../../route.js';
import { NpcParams, nullable } from '../../schemas.js';
import type { Services } from '../../services.js';
import { rulesetWarning } from '../../warning.js';
import { resultOf, ResultSchema, tapeOf, TapeSchema } from './tape.js';
import { defined } from '../../../domain/shared/defined.js';

const Instruction = Type.Object(
  { type: Type.String({ description: 'IdentifyActor, QueryVector, ExecuteInference or Finalize' }) },
  { additionalProperties: true },
);

/** `POST /npcs/{npcId}/process`: one step of the multi-round protocol (contract 2.2). */
export const processRoutes = (services: Services): readonly RouteDefinition[] => {
  const { ports, lanes, journal, turnIndex, engine, signer, turnDeadlineMs } = services;
  const { clock, events } = ports;
  const deps = { engine, journal, index: turnIndex, lanes, clock, events, turnDeadlineMs };
  const instructionOf = async (tenant: string, npcId: string, answer: Stepped['answer']) => {
    const { instruction, turnId, signing } = answer;
    if (instruction.type !== 'Finalize') return instruction;
    const { verdict } = instruction;
    const recorded = { tenant, npcId, turnId, observation: answer.observation, verdict };
    const signature = await signer.sign(signing === undefined ? recorded : { ...recorded, signing });
    return { type: 'Finalize', ...finalizeWire(verdict, signature) };
  };
  return [
    route({
      operationId: 'processStep',
      method: 'POST',
      path: '/npcs/:npcId/process',
      tag: 'Protocol',
      summary: 'One step of a turn: send the tape and the last result, get the next instruction',
      description:
        'A turn takes four requests: `IdentifyActor`, `QueryVector`, `ExecuteInference`, `Finalize`. Send each result as `lastResult`, or write it into the tape. A repeated step gets the same answer. A repeated opening (a tape without its `turnId`) opens another turn, unless it carries the same `Idempotency-Key`. A step brings at most 524,288 bytes of JSON: the opening with its actor, or one result.',
      scope: 'npc',
      params: NpcParams,
      writesTo: mindStream,
      enter: (call) => enterStep(engine, mindStream(call)),
      body: Type.Object({ tape: TapeSchema, lastResult: nullable(ResultSchema) }),
      responses: {
        200: {
          description: 'What the body does next, and the tape as the mind knows it.',
          schema: Type.Object({ instruction: Instruction, tape: Type.Object({}, { additionalProperties: true }) }),
        },
      },
      handler: async (call) => {
        const { npcId } = call.params;
        const { tenant } = call.principal;
        const tape = tapeOf(call.body.tape);
        const { keyed, resumed, ...by } = contextOf(call);
        const result = resultOf(call.body.lastResult);
        const stepped = await stepTurn(deps, { stream: npcStream(tenant, npcId), tape, result, by, keyed, resumed });
        const { answer, revision, position } = stepped;
        return {
          revision,
          position,
          headers: rulesetWarning(answer.rulesetMissing),
          body: {
            instruction: await instructionOf(tenant, npcId, answer),
            tape: {
              ...tape.extra,
              ...defined({ rulesetId: tape.rulesetId }),
              ...answer.tape,
            },
          },
        };
      },
    }),
  ];
};
