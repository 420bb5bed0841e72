import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { CURRENT_LOGIC, logicOf } from '../../src/features/turns/domain/decision/logic.js';
import type { TurnFacts } from '../../src/features/turns/domain/decision/turn-facts.js';
import { MISMATCHES_NOTED, mismatchKey } from '../../src/features/turns/domain/tape-mismatch.js';
import type { Instruction } from '../../src/features/npcs/domain/events.js';
import type { StateMachine } from '../../src/kernel/processes/state-machine.js';
import { answerRound, type TurnAnswer } from './turn-answer.js';
import { turnFold } from './turn-evolve.js';
import { draft } from '../../src/features/npcs/domain/draft.js';
import {
  askForMemories,
  askForOutput,
  decidedEvents,
  expiredEvents,
  keeping,
  openingEvents,
  recalledEvents,
} from './turn-events.js';
import type { OpenedTurn, TurnInput, TurnName, TurnState } from './turn-state.js';

const open = (_: TurnState, opening: Extract<TurnInput, { type: 'open' }>, facts: TurnFacts): readonly EventDraft[] => {
  const { type: _type, rulesetId: _rulesetId, actor, memories, ...rest } = opening;
  const held = facts.patternsHeld === undefined ? rest : { ...rest, patternsHeld: facts.patternsHeld };
  const withActor = actor === undefined ? held : { ...held, actor };
  const known = actor === undefined || memories === undefined ? withActor : { ...withActor, memories };
  const logic = CURRENT_LOGIC;
  const instruction: Instruction =
    actor === undefined
      ? { type: 'IdentifyActor' }
      : memories === undefined
        ? askForMemories(logicOf(logic), facts, known)
        : askForOutput(logicOf(logic), facts, known);
  return openingEvents({ ...known, ...keeping(facts, actor), logic, instruction }, facts);
};

const identifyActor = (
  state: OpenedTurn,
  { actor }: Extract<TurnInput, { type: 'actor' }>,
  facts: TurnFacts,
): readonly EventDraft[] => [
  draft({
    type: 'ActorIdentified',
    data: {
      turnId: state.turnId,
      mindRevision: facts.mind.revision,
      logic: state.logic,
      actor,
      ...keeping(facts, actor),
      instruction: askForMemories(logicOf(state.logic), facts, { ...state, actor }),
    },
  }),
];

const takeMemories = (
  state: OpenedTurn,
  { memories }: Extract<TurnInput, { type: 'memories' }>,
  facts: TurnFacts,
): readonly EventDraft[] => recalledEvents(state, { memories }, facts);

const decide = (
  state: OpenedTurn,
  { generatedOutput }: Extract<TurnInput, { type: 'output' }>,
  facts: TurnFacts,
): readonly EventDraft[] => decidedEvents(state, { generatedOutput }, facts);

/**
 * Notes a contradiction. A client that continues with the same tape contradicts it once. A client that differs each time is noted at most this often.
 */
const noticeMismatch = (
  state: OpenedTurn,
  { round, members }: Extract<TurnInput, { type: 'mismatch' }>,
): readonly EventDraft[] =>
  state.mismatches.length >= MISMATCHES_NOTED || state.mismatches.includes(mismatchKey(members))
    ? []
    : [draft({ type: 'TapeMismatchNoticed', data: { turnId: state.turnId, round, members } })];

const noticed = (name: TurnName) => ({ to: [name], emit: noticeMismatch });
const expiring = { to: ['expired'], emit: expiredEvents } as const;

const over = {
  open: 'ignore',
  actor: 'ignore',
  memories: 'ignore',
  output: 'ignore',
  look: 'ignore',
  mismatch: 'ignore',
  deadline: 'ignore',
} as const;

/** One turn of an NPC: the turn protocol as a durable process. */
export const turn: StateMachine<TurnState, TurnInput, TurnFacts, TurnAnswer> = {
  ...turnFold,
  name: 'turn',
  transitions: {
    new: {
      open: { to: ['awaitingActor', 'awaitingMemories', 'awaitingInference'], emit: open },
      actor: { reject: 'TURN_NOT_FOUND' },
      memories: { reject: 'TURN_NOT_FOUND' },
      output: { reject: 'TURN_NOT_FOUND' },
      look: { reject: 'TURN_NOT_FOUND' },
      mismatch: { reject: 'TURN_NOT_FOUND' },
      deadline: 'ignore',
    },
    awaitingActor: {
      open: 'ignore',
      actor: { to: ['awaitingMemories'], emit: identifyActor },
      memories: 'ignore',
      output: 'ignore',
      look: 'ignore',
      mismatch: noticed('awaitingActor'),
      deadline: expiring,
    },
    awaitingMemories: {
      open: 'ignore',
      actor: 'ignore',
      memories: { to: ['awaitingInference'], emit: takeMemories },
      output: 'ignore',
      look: 'ignore',
      mismatch: noticed('awaitingMemories'),
      deadline: expiring,
    },
    awaitingInference: {
      open: 'ignore',
      actor: 'ignore',
      memories: 'ignore',
      output: { to: ['ended'], emit: decide },
      look: 'ignore',
      mismatch: noticed('awaitingInference'),
      deadline: expiring,
    },
    ended: {
      open: 'ignore',
      actor: 'ignore',
      memories: 'ignore',
      output: 'ignore',
      look: 'ignore',
      mismatch: noticed('ended'),
      deadline: 'ignore',
    },
    // Only the turns of agents fail: a body asks its model itself.
    failed: over,
    expired: over,
  },
  // The body makes the model calls and the recall, so a turn waits only for its client.
  answer: answerRound,
};
