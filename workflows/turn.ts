import { CURRENT_LOGIC, logicOf } from '../src/domain/npc/decision/logic.js';
import type { Instruction, NpcEvent } from '../src/domain/npc/events.js';
import { keepsActorData, type TurnFacts } from '../src/domain/npc/decision/turn-facts.js';
import { MISMATCHES_NOTED, mismatchKey } from '../src/domain/npc/tape-mismatch.js';
import { answerRound, type TurnAnswer } from './turn-answer.js';
import { evolveTurn } from './turn-evolve.js';
import type { Opening, OpenedTurn, TurnInput, TurnName, TurnState } from './turn-state.js';
import type { Emitted, Process } from './process.js';

/** What a recall instruction says, from the directive (contract 2.8). */
const askForMemories = (logic: number, facts: TurnFacts, turn: Opening): Instruction => {
  const { effectiveInput, giveDirective } = logicOf(logic);
  return { type: 'QueryVector', ...giveDirective(effectiveInput(facts, turn)).memoryRecall };
};

const askForOutput = (logic: number, facts: TurnFacts, turn: Opening): Instruction => {
  const { effectiveInput, buildPrompt } = logicOf(logic);
  const { prompt, constraints } = buildPrompt(effectiveInput(facts, turn));
  return { type: 'ExecuteInference', prompt, constraints };
};

/** If an actor's data is larger than a mind's may be, only this turn uses it, and the event says so (contract 1.2). */
const keeping = (facts: TurnFacts, actor: Opening['actor']): { readonly actorDataKept?: false } =>
  keepsActorData(facts.mind, actor) ? {} : { actorDataKept: false };

const draft = (event: NpcEvent): Emitted => event as unknown as Emitted;

const open = (_: TurnState, opening: Extract<TurnInput, { type: 'open' }>, facts: TurnFacts): readonly Emitted[] => {
  const { type: _type, rulesetId: _rulesetId, actor, memories, ...rest } = opening;
  const held = facts.patternsHeld === undefined ? rest : { ...rest, patternsHeld: facts.patternsHeld };
  const withActor = actor === undefined ? held : { ...held, actor };
  const known = actor === undefined || memories === undefined ? withActor : { ...withActor, memories };
  const logic = CURRENT_LOGIC;
  const instruction: Instruction =
    actor === undefined
      ? { type: 'IdentifyActor' }
      : memories === undefined
        ? askForMemories(logic, facts, known)
        : askForOutput(logic, facts, known);
  const { turnId } = opening;
  return [
    ...(facts.rulesetMissing === undefined
      ? []
      : [draft({ type: 'RulesetMissing', data: { turnId, rulesetId: facts.rulesetMissing } })]),
    draft({
      type: 'TurnOpened',
      data: {
        ...known,
        ...keeping(facts, actor),
        mindRevision: facts.mind.revision,
        logic,
        ruleset: facts.rulesetRef,
        instruction,
      },
    }),
  ];
};

const identifyActor = (
  state: OpenedTurn,
  { actor }: Extract<TurnInput, { type: 'actor' }>,
  facts: TurnFacts,
): readonly Emitted[] => [
  draft({
    type: 'ActorIdentified',
    data: {
      turnId: state.turnId,
      mindRevision: facts.mind.revision,
      logic: state.logic,
      actor,
      ...keeping(facts, actor),
      instruction: askForMemories(state.logic, facts, { ...state, actor }),
    },
  }),
];

const takeMemories = (
  state: OpenedTurn,
  { memories }: Extract<TurnInput, { type: 'memories' }>,
  facts: TurnFacts,
): readonly Emitted[] => [
  draft({
    type: 'MemoriesRecalled',
    data: {
      turnId: state.turnId,
      mindRevision: facts.mind.revision,
      logic: state.logic,
      memories,
      instruction: askForOutput(state.logic, facts, { ...state, memories }),
    },
  }),
];

/** The verdict, its state change and its memories: one append (contract 2.6). */
const decide = (
  state: OpenedTurn,
  { generatedOutput }: Extract<TurnInput, { type: 'output' }>,
  facts: TurnFacts,
): readonly Emitted[] => {
  const { logic } = state;
  const { effectiveInput, reachVerdict } = logicOf(logic);
  const { verdict, grounds } = reachVerdict(effectiveInput(facts, state), generatedOutput);
  const reached = { mindRevision: facts.mind.revision, logic, generatedOutput, verdict, grounds };
  return verdictEvents(state.turnId, reached, facts);
};

/** The events that record a verdict, including one requested outside a turn (contract 2.7). */
export const verdictEvents = (
  turnId: string,
  reached: Omit<Extract<NpcEvent, { type: 'VerdictReached' }>['data'], 'turnId' | 'kid' | 'iss'>,
  { issuer }: Pick<TurnFacts, 'issuer'>,
): readonly Emitted[] => {
  const { verdict } = reached;
  if (!verdict.valid) return [draft({ type: 'VerdictRefused', data: { turnId, ...reached } })];
  return [
    draft({ type: 'VerdictReached', data: { turnId, ...reached, ...issuer } }),
    ...(Object.keys(verdict.stateDelta).length === 0
      ? []
      : [draft({ type: 'StateChanged', data: { turnId, patch: verdict.stateDelta } })]),
    ...verdict.memoryStore.map((memory, index) =>
      draft({ type: 'MemoryStored', data: { turnId, memoryId: `${turnId}-${String(index)}`, ...memory } }),
    ),
  ];
};

/** A client that goes on with the same tape contradicts it once. A client that differs each time is noted this often and no more. */
const noticeMismatch = (
  state: OpenedTurn,
  { round, members }: Extract<TurnInput, { type: 'mismatch' }>,
): readonly Emitted[] =>
  state.mismatches.length >= MISMATCHES_NOTED || state.mismatches.includes(mismatchKey(members))
    ? []
    : [draft({ type: 'TapeMismatchNoticed', data: { turnId: state.turnId, round, members } })];

const expire = (state: OpenedTurn): readonly Emitted[] => [
  draft({ type: 'TurnExpired', data: { turnId: state.turnId } }),
];

const noticed = (name: TurnName) => ({ to: [name], emit: noticeMismatch });
const expiring = { to: ['expired'], emit: expire } as const;

/** One turn of an NPC: the multi-round protocol of contract 2.2 as a durable process (contract 2.6). */
export const turn: Process<TurnState, TurnInput, TurnFacts, TurnAnswer> = {
  name: 'turn',
  initial: { name: 'new' },
  table: {
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
    expired: {
      open: 'ignore',
      actor: 'ignore',
      memories: 'ignore',
      output: 'ignore',
      look: 'ignore',
      mismatch: 'ignore',
      deadline: 'ignore',
    },
  },
  owns: (id, event) => event.data['turnId'] === id,
  evolve: evolveTurn,
  // The body makes the model calls and the recall, so a turn waits only for its client.
  deadline: (state) =>
    state.name === 'new' || over(state) ? null : { at: state.deadlineAt, input: { type: 'deadline' } },
  answer: answerRound,
  over: (state) => over(state),
};

const over = (state: TurnState): boolean => state.name === 'ended' || state.name === 'expired';
