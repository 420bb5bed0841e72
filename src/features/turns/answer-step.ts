import { type Static, Type } from '@sinclair/typebox';

import type { Stepped, TurnStep } from './step-turn.js';
import type { VerdictSigner } from './verdict-signer.js';
import { finalizeWire } from './domain/signature.js';
import { playerMember, whoSpeaks } from './domain/speaker.js';
import { defined } from '../../kernel/base/defined.js';
import type { Json } from '../../kernel/base/json.js';
import { type Answer, type Call, onBehalfOf } from '../../kernel/http/route.js';
import { documentedAs, named } from '../../kernel/http/named.js';
import { PLAYER_HEADER } from '../../kernel/http/headers.js';
import { nullable } from '../../kernel/http/schemas.js';
import { withHeaders, resultTypeWarning, rulesetWarning } from '../../kernel/http/warning.js';
import { meantType, PlayerSchema, resultOf, ResultSchema, tapeOf, TapeSchema } from './body-schemas.js';
import { InstructionSchema, OtherResultSchema, RecordedTapeSchema, KnownResultSchema } from './protocol-schemas.js';
import { stepExamples } from './step-examples.js';

const LastResult = documentedAs(Type.Union([KnownResultSchema, OtherResultSchema]), ResultSchema);
export const StepBody = named(
  'ProcessRequest',
  Type.Object({ tape: TapeSchema, lastResult: nullable(LastResult), player: PlayerSchema }),
);
export const StepAnswered = {
  description: 'What the body does next, and the tape as recorded.',
  schema: named('ProcessResponse', Type.Object({ instruction: InstructionSchema, tape: RecordedTapeSchema })),
  example: stepExamples.opened,
};

/** The subject of a verdict, and the stream of its mind. */
type Subject = { readonly npcId: string; readonly stream: string };

/** Reads a body's request, has the step taken, and answers it. Propagates errors from the step and the signer. */
export const stepAnswers = ({ signer }: { readonly signer: VerdictSigner }) => {
  const instructionOf = async (mind: Subject & { readonly tenant: string }, answer: Stepped['answer']) => {
    const { instruction, turnId, signing } = answer;
    if (instruction.type !== 'Finalize') return instruction;
    const { verdict } = instruction;
    const recorded = { ...mind, turnId, observation: answer.observation, verdict };
    const signature = await signer.sign(signing === undefined ? recorded : { ...recorded, signing });
    return { type: 'Finalize', ...finalizeWire(verdict, signature) };
  };
  return async (
    call: Call<unknown, unknown, Static<typeof StepBody>>,
    subject: Subject,
    take: (step: Omit<TurnStep, 'stream'>) => Promise<Stepped>,
  ): Promise<Answer> => {
    const tape = tapeOf(call.body.tape);
    const { keyed, resumed, body } = call;
    const by = onBehalfOf(call);
    const player = whoSpeaks({
      // The tape has it back from the server.
      bodies: [playerMember(call.body as Json), body.tape.player],
      header: call.header(PLAYER_HEADER),
      context: tape.context,
    });
    const step = { tape, ...defined({ player }), result: resultOf(body.lastResult), by, keyed, resumed };
    const { answer, revision, position } = await take(step);
    const headers = withHeaders(
      rulesetWarning(answer.rulesetMissing, answer.rulesetIgnored),
      resultTypeWarning(meantType(body.lastResult)),
    );
    return {
      revision,
      position,
      headers,
      body: {
        instruction: await instructionOf({ tenant: by.tenant, ...subject }, answer),
        tape: {
          ...tape.extra,
          ...defined({ rulesetId: tape.rulesetId }),
          ...answer.tape,
        },
      },
    };
  };
};
