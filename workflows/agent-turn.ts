import type { EventDraft } from '../src/kernel/base/event-draft.js';
import { CURRENT_LOGIC, logicOf } from '../src/features/turns/domain/decision/logic.js';
import type { TurnFacts } from '../src/features/turns/domain/decision/turn-facts.js';
import type { RecallBasis, RecalledMemory, Verdict } from '../src/features/npcs/domain/events.js';
import { toldApart } from '../src/features/npcs/domain/told-apart.js';
import type { JsonObject } from '../src/kernel/base/json.js';
import type { Transition, Effect, StateMachine } from '../src/kernel/processes/state-machine.js';
import {
  askForMemories,
  decidedEvents,
  expiredEvents,
  missingEvents,
  openingEvents,
  recalledEvents,
  type TooLong,
  tooLongEvents,
} from './turn/turn-events.js';
import { turnFold } from './turn/turn-evolve.js';
import type { Opening, OpenedTurn, TurnName, TurnState } from './turn/turn-state.js';
import { defined } from '../src/kernel/base/defined.js';

export type AgentTurnInput =
  | ({ readonly type: 'open'; readonly rulesetId?: string } & Opening)
  | { readonly type: 'memories'; readonly memories: readonly RecalledMemory[]; readonly recall?: RecallBasis }
  | {
      readonly type: 'output';
      readonly generatedOutput: string;
      readonly cortexId: string;
      readonly reasoning?: string;
    }
  | {
      /** The engine is up, and gave no text. */
      readonly type: 'missing';
      readonly cortexId: string;
      readonly reason: string;
      readonly attempt: number;
    }
  | ({
      /** The engine is up, and refuses the prompt because of its length. `shortened`: it is the shorter one that it refuses. */
      readonly type: 'tooLong';
      readonly shortened: boolean;
    } & TooLong)
  | { readonly type: 'deadline' };

/** The state of the turn; `verdict` or `failure` once it has ended. */
export type AgentTurnAnswer = {
  readonly turnId: string;
  readonly state: Exclude<TurnName, 'new'>;
  readonly memories: readonly RecalledMemory[];
  /** Whether it has recalled, so that an engine was called. */
  readonly recalled: boolean;
  readonly verdict?: Verdict;
  /** Why it ended without one. */
  readonly failure?: { readonly code: string; readonly reason: string };
};

const open = (
  _: TurnState,
  { type: _type, rulesetId: _rulesetId, ...opening }: Extract<AgentTurnInput, { type: 'open' }>,
  facts: TurnFacts,
): readonly EventDraft[] => {
  const held = { ...opening, ...defined({ patternsHeld: facts.patternsHeld }) };
  const instruction = askForMemories(logicOf(CURRENT_LOGIC), facts, held);
  return openingEvents({ ...held, agent: true, logic: CURRENT_LOGIC, instruction }, facts);
};

type AgentTurnTransitions = StateMachine<TurnState, AgentTurnInput, TurnFacts, AgentTurnAnswer>['transitions'];
const expiring = { to: ['expired'], emit: expiredEvents } as const;
const opening: Transition<TurnState, Extract<AgentTurnInput, { type: 'open' }>, TurnFacts, TurnName> = {
  to: ['awaitingMemories'],
  emit: open,
};
const over = {
  open: 'ignore',
  memories: 'ignore',
  output: 'ignore',
  missing: 'ignore',
  tooLong: 'ignore',
  deadline: 'ignore',
} as const;

/** A refusal of the prompt that the turn asks for now; another one is the same refusal, reported again. */
const tooLong = (
  state: OpenedTurn,
  { type: _, shortened, ...refused }: Extract<AgentTurnInput, { type: 'tooLong' }>,
  facts: TurnFacts,
): readonly EventDraft[] => (shortened === (state.shortened === true) ? tooLongEvents(state, refused, facts) : []);

const transitions: AgentTurnTransitions = {
  new: { ...over, open: opening },
  // There is no body here, so the actor is never requested.
  awaitingActor: over,
  awaitingMemories: {
    open: 'ignore',
    memories: {
      to: ['awaitingInference'],
      emit: (state, input, facts) => recalledEvents(state, input, facts),
    },
    output: 'ignore',
    missing: 'ignore',
    tooLong: 'ignore',
    deadline: expiring,
  },
  awaitingInference: {
    open: 'ignore',
    memories: 'ignore',
    output: {
      to: ['ended'],
      emit: (state, { type: _, ...made }, facts) => decidedEvents(state, made, facts),
    },
    missing: { to: ['awaitingInference', 'failed'], emit: (state, input) => missingEvents(state, input) },
    tooLong: { to: ['awaitingInference', 'failed'], emit: tooLong },
    deadline: expiring,
  },
  ended: over,
  failed: over,
  expired: over,
};

/**
 * The turn waits for its last instruction. Both are effects: a recall waits for the read model and embeds what is new, which may take long, and it
 * must be retried even without a request.
 */
const pending = (state: TurnState): Effect | null => {
  if (state.name === 'new') return null;
  const { instruction } = state.rounds[state.rounds.length - 1] ?? {};
  switch (instruction?.type) {
    case 'QueryVector': {
      const { query, limit, threshold } = instruction;
      const player = toldApart(state.player);
      return { id: 'recall', name: 'recall', args: { query, limit, threshold, ...defined({ player }) } };
    }
    case 'ExecuteInference': {
      const { prompt, constraints, messages } = instruction;
      const attempt = (state.missing ?? 0) + 1;
      return {
        // Each attempt is an effect of its own: the one before it has recorded why it gave no text.
        id: `${attempt === 1 ? 'infer' : `infer-${String(attempt)}`}${state.shortened === true ? '-shortened' : ''}`,
        name: 'infer',
        args: {
          prompt,
          constraints,
          attempt,
          ...defined({ messages, shortened: state.shortened }),
          ...(state.shortened === true ? defined({ budget: state.promptBudget }) : {}),
        } satisfies JsonObject,
      };
    }
    default:
      return null;
  }
};

const answerOf = ({ turnId, name, memories, verdict, failure }: OpenedTurn): AgentTurnAnswer => ({
  turnId,
  state: name,
  memories: memories ?? [],
  recalled: memories !== undefined,
  ...defined({ verdict: verdict?.verdict, failure }),
});

/**
 * One turn of an NPC whose body is this server: it recalls from the mind's own memories, an engine writes the answer, and the same rules decide on
 * it. It records the same events as a turn of a body.
 */
export const agentTurn: StateMachine<TurnState, AgentTurnInput, TurnFacts, AgentTurnAnswer> = {
  ...turnFold,
  name: 'agentTurn',
  transitions,
  pending,
  answer: (state) => (state.name === 'new' ? undefined : answerOf(state)),
};
