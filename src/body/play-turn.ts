import type { Inference } from './inference.js';
import type { BodyMemory } from './memory.js';
import type { MindClient } from './mind-client.js';
import type {
  ExecuteInference,
  Finalize,
  IdentifyActor,
  NpcActor,
  QueryVector,
  StepRequest,
  StepResult,
  Tape,
} from './protocol.js';

/** `thin` never touches the tape and sends `lastResult`; `fat` writes results into the tape and sends nothing else. */
export type BodyMode = 'thin' | 'fat';

export type TurnToPlay = {
  readonly mind: Pick<MindClient, 'process'>;
  readonly npcId: string;
  readonly mode: BodyMode;
  /**
   * `returned`: every step sends the tape that the mind returned. `own`: every step sends the first tape again, in fat
   * mode with the results written so far; what the mind added, including `turnId`, is dropped.
   */
  readonly tapes?: 'returned' | 'own';
  /** The first tape: observation, context, npcState, rulesetId. */
  readonly tape: Tape;
  readonly actor: () => NpcActor | Promise<NpcActor>;
  readonly memory: BodyMemory;
  readonly inference: Inference;
  readonly signal?: AbortSignal;
};

export type TurnPlayed = {
  readonly instruction: Finalize;
  /** The last tape that the mind returned. */
  readonly tape: Tape;
  readonly requests: number;
};

/** A turn that did not end within the client's bound of requests, or was answered with an unknown instruction. */
export class TurnError extends Error {
  readonly code: 'TOO_MANY_REQUESTS' | 'UNKNOWN_INSTRUCTION';

  constructor(code: 'TOO_MANY_REQUESTS' | 'UNKNOWN_INSTRUCTION', message: string) {
    super(message);
    this.name = 'TurnError';
    this.code = code;
  }
}

/** How many requests a client makes before it abandons a turn; a normal turn takes four. */
export const MAX_REQUESTS: Readonly<Record<BodyMode, number>> = { thin: 8, fat: 12 };

const obey = async (
  instruction: IdentifyActor | QueryVector | ExecuteInference,
  turn: TurnToPlay,
): Promise<StepResult> => {
  switch (instruction.type) {
    case 'IdentifyActor':
      return { type: 'IdentifyActorResult', actor: await turn.actor() };
    case 'QueryVector':
      return { type: 'QueryVectorResult', memories: await turn.memory.recall(turn.npcId, instruction) };
    case 'ExecuteInference':
      return {
        type: 'ExecuteInferenceResult',
        generatedOutput: await turn.inference.complete({
          prompt: instruction.prompt,
          constraints: instruction.constraints,
          observation: turn.tape.observation,
          ...(turn.signal === undefined ? {} : { signal: turn.signal }),
        }),
      };
    default:
      throw new TurnError('UNKNOWN_INSTRUCTION', 'The mind sent an instruction that this body does not support.');
  }
};

const written = (tape: Tape, result: StepResult): Tape => {
  switch (result.type) {
    case 'IdentifyActorResult':
      return { ...tape, actor: result.actor };
    case 'QueryVectorResult':
      return { ...tape, memories: result.memories, vectorQueried: true };
    case 'ExecuteInferenceResult':
      return { ...tape, generatedOutput: result.generatedOutput };
  }
};

const nextStep = (mode: BodyMode, tape: Tape, result: StepResult): StepRequest => {
  if (mode === 'thin') return { tape, lastResult: result };
  // In a tape an empty text means "none yet", so an empty answer of the model can only be reported as a result.
  if (result.type === 'ExecuteInferenceResult' && result.generatedOutput === '') return { tape, lastResult: result };
  return { tape: written(tape, result) };
};

/**
 * Plays one turn to its end: sends a step, follows the instruction, sends the next. A valid verdict's memories go to the body's memory. Nothing is
 * retried.
 * @throws MindError and InferenceError unchanged (the turn stays open on the server), TurnError
 */
export const playTurn = async (turn: TurnToPlay): Promise<TurnPlayed> => {
  const call = turn.signal === undefined ? {} : { signal: turn.signal };
  let step: StepRequest = { tape: turn.tape };
  for (let requests = 1; requests <= MAX_REQUESTS[turn.mode]; requests += 1) {
    const { instruction, tape } = await turn.mind.process(turn.npcId, step, call);
    if (instruction.type === 'Finalize') {
      if (instruction.memoryStore.length > 0) await turn.memory.store(turn.npcId, instruction.memoryStore);
      return { instruction, tape, requests };
    }
    const carried = turn.tapes === 'own' ? step.tape : tape;
    step = nextStep(turn.mode, carried, await obey(instruction, turn));
  }
  throw new TurnError(
    'TOO_MANY_REQUESTS',
    `The turn did not end within ${String(MAX_REQUESTS[turn.mode])} requests, so the body gave up.`,
  );
};
