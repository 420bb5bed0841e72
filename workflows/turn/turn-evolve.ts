import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { npcEvents, type Actor, type NpcEvent } from '../../src/features/npcs/domain/events.js';
import { mismatchKey } from '../../src/features/turns/domain/tape-mismatch.js';
import type { Json } from '../../src/kernel/base/json.js';
import type { Deadline, ProcessEvent } from '../../src/kernel/processes/state-machine.js';
import type { OpenedTurn, Round, TurnState } from './turn-state.js';
import { defined } from '../../src/kernel/base/defined.js';

const round = (event: ProcessEvent, result: Json, instruction: Round['instruction']): Round => ({
  result,
  instruction,
  revision: event.revision,
  at: event.meta.at,
});

const opened = (
  data: Extract<NpcEvent, { type: 'TurnOpened' }>['data'],
  event: ProcessEvent,
  missing: string | undefined,
): OpenedTurn => {
  const { instruction, mindRevision: _revision, actorDataKept: _kept, ...opening } = data;
  return {
    ...opening,
    name:
      instruction.type === 'IdentifyActor'
        ? 'awaitingActor'
        : instruction.type === 'QueryVector'
          ? 'awaitingMemories'
          : 'awaitingInference',
    commandId: event.meta.commandId,
    openedAt: event.meta.at,
    ...defined({ rulesetMissing: missing }),
    rounds: [round(event, null, instruction)],
    roundOf: {
      ...(data.actor === undefined ? {} : { actor: 0 }),
      ...(data.memories === undefined ? {} : { memories: 0 }),
    },
    mismatches: [],
  };
};

const withRound = (state: OpenedTurn, next: Round): Pick<OpenedTurn, 'rounds'> => ({ rounds: [...state.rounds, next] });

/** Folds one event of a turn; total. */
export const evolveTurn = (state: TurnState, recorded: ProcessEvent): TurnState => {
  const event = npcEvents.decode(recorded);
  if (state.name === 'new') {
    if (event.type === 'TurnOpened') return opened(event.data, recorded, state.rulesetMissing);
    if (event.type === 'RulesetMissing') return { ...state, rulesetMissing: event.data.rulesetId };
    return state;
  }
  const next = state.rounds.length;
  switch (event.type) {
    case 'ActorIdentified':
      return {
        ...state,
        ...withRound(
          state,
          round(recorded, { type: 'IdentifyActorResult', actor: event.data.actor as Json }, event.data.instruction),
        ),
        name: 'awaitingMemories',
        actor: event.data.actor satisfies Actor,
        roundOf: { ...state.roundOf, actor: next },
      };
    case 'MemoriesRecalled':
      return {
        ...state,
        ...withRound(
          state,
          round(recorded, { type: 'QueryVectorResult', memories: event.data.memories }, event.data.instruction),
        ),
        name: 'awaitingInference',
        memories: event.data.memories,
        roundOf: { ...state.roundOf, memories: next },
      };
    case 'VerdictReached':
    case 'VerdictRefused':
      return {
        ...state,
        ...withRound(
          state,
          round(
            recorded,
            { type: 'ExecuteInferenceResult', generatedOutput: event.data.generatedOutput },
            { type: 'Finalize' },
          ),
        ),
        name: 'ended',
        endedAt: recorded.meta.at,
        generatedOutput: event.data.generatedOutput,
        verdict: event.data,
        roundOf: { ...state.roundOf, output: next },
      };
    case 'AnswerMissing':
      return { ...state, missing: event.data.attempt };
    case 'PromptShortened':
      return {
        ...state,
        ...withRound(state, round(recorded, null, event.data.instruction)),
        promptBudget: event.data.budget,
        shortened: true,
      };
    case 'TurnFailed': {
      const { code, reason } = event.data;
      return { ...state, name: 'failed', endedAt: recorded.meta.at, failure: { code, reason } };
    }
    case 'TurnExpired':
      return { ...state, name: 'expired', endedAt: recorded.meta.at };
    case 'TapeMismatchNoticed':
      return { ...state, mismatches: [...state.mismatches, mismatchKey(event.data.members)] };
    default:
      return state;
  }
};

const over: ReadonlySet<TurnState['name']> = new Set(['ended', 'failed', 'expired']);
export const isTurnOver = (state: TurnState): boolean => over.has(state.name);

/** The fold of a process that is a turn, whoever its body is. */
export const turnFold = {
  initial: { name: 'new' } satisfies TurnState as TurnState,
  owns: (id: string, event: EventDraft): boolean => event.data['turnId'] === id,
  evolve: evolveTurn,
  deadline: (state: TurnState): Deadline<{ readonly type: 'deadline' }> | null =>
    state.name === 'new' || isTurnOver(state) ? null : { at: state.deadlineAt, input: { type: 'deadline' } },
  over: isTurnOver,
};
