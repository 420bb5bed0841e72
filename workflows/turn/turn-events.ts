import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { type Logic, logicOf } from '../../src/features/turns/domain/decision/logic.js';
import { keepsActorData, type TurnFacts } from '../../src/features/turns/domain/decision/turn-facts.js';
import type { Instruction, NpcEvent, RecalledMemory, Speaker } from '../../src/features/npcs/domain/events.js';
import { draft } from '../../src/features/npcs/domain/draft.js';
import { defined } from '../../src/kernel/base/defined.js';
import type { Opening, OpenedTurn } from './turn-state.js';

// The events that the steps of a turn record. They are the same for a turn of a body and for an agent's, so that histories do not depend on the body.

/** If an actor's data exceeds the limit of a mind's data, only this turn uses it, and the event says so. */
export const keeping = (facts: TurnFacts, actor: Opening['actor']): { readonly actorDataKept?: false } =>
  keepsActorData(facts.mind, actor) ? {} : { actorDataKept: false };

/** The recall instruction that follows from the directive. */
export const askForMemories = (
  { effectiveInput, giveDirective }: Logic,
  facts: TurnFacts,
  turn: Opening,
): Instruction => ({ type: 'QueryVector', ...giveDirective(effectiveInput(facts, turn)).memoryRecall });

export const askForOutput = ({ effectiveInput, buildPrompt }: Logic, facts: TurnFacts, turn: Opening): Instruction => {
  const { prompt, constraints, chat } = buildPrompt(effectiveInput(facts, turn));
  const asked = { type: 'ExecuteInference', prompt, constraints } as const;
  // Turns of agents that were opened before conversations existed have none.
  return turn.agent === true && turn.conversation !== undefined ? { ...asked, messages: chat } : asked;
};

type OpenedData = Extract<NpcEvent, { type: 'TurnOpened' }>['data'];

/** The opening, after a note of the ruleset that was named and is not registered. */
export const openingEvents = (
  opening: Omit<OpenedData, 'mindRevision' | 'ruleset'>,
  facts: TurnFacts,
): readonly EventDraft[] => {
  const { turnId } = opening;
  const { rulesetMissing: rulesetId } = facts;
  return [
    ...(rulesetId === undefined ? [] : [draft({ type: 'RulesetMissing', data: { turnId, rulesetId } })]),
    draft({
      type: 'TurnOpened',
      data: { ...opening, mindRevision: facts.mind.revision, ruleset: facts.rulesetRef },
    }),
  ];
};

export const recalledEvents = (
  state: OpenedTurn,
  memories: readonly RecalledMemory[],
  facts: TurnFacts,
): readonly EventDraft[] => [
  draft({
    type: 'MemoriesRecalled',
    data: {
      turnId: state.turnId,
      mindRevision: facts.mind.revision,
      logic: state.logic,
      memories,
      instruction: askForOutput(logicOf(state.logic), facts, { ...state, memories }),
    },
  }),
];

/** The verdict on a model's text, its state change and its memories: one append. */
export const decidedEvents = (
  state: OpenedTurn,
  {
    generatedOutput,
    ...made
  }: { readonly generatedOutput: string; readonly cortexId?: string; readonly reasoning?: string },
  facts: TurnFacts,
): readonly EventDraft[] => {
  const { logic } = state;
  const { effectiveInput, reachVerdict } = logicOf(logic);
  const { verdict, grounds } = reachVerdict(effectiveInput(facts, state), generatedOutput);
  const reached = { mindRevision: facts.mind.revision, logic, generatedOutput, ...made, verdict, grounds };
  return verdictEvents(state, reached, facts);
};

/** The events that record a verdict, including one requested outside a turn. */
export const verdictEvents = (
  { turnId, player }: { readonly turnId: string; readonly player?: Speaker },
  reached: Omit<Extract<NpcEvent, { type: 'VerdictReached' }>['data'], 'turnId' | 'kid' | 'iss'>,
  { issuer }: Pick<TurnFacts, 'issuer'>,
): readonly EventDraft[] => {
  const { verdict } = reached;
  if (!verdict.valid) return [draft({ type: 'VerdictRefused', data: { turnId, ...reached } })];
  return [
    draft({ type: 'VerdictReached', data: { turnId, ...reached, ...issuer } }),
    ...(Object.keys(verdict.stateDelta).length === 0
      ? []
      : [draft({ type: 'StateChanged', data: { turnId, patch: verdict.stateDelta } })]),
    ...verdict.memoryStore.map((memory, index) =>
      draft({
        type: 'MemoryStored',
        data: { turnId, memoryId: `${turnId}-${String(index)}`, ...memory, ...defined({ player }) },
      }),
    ),
  ];
};

/** The event types next to a verdict in its append, which follow the verdict immediately. */
export const besidesVerdict: ReadonlySet<string> = new Set(['StateChanged', 'MemoryStored']);

/** How many times an engine is asked for the text of a turn. */
export const ATTEMPTS = 3;

/** The engine gave no text: a note of this attempt, and after the last one the end of the turn. An attempt that is already noted adds nothing. */
export const missingEvents = (
  { turnId, missing = 0 }: Pick<OpenedTurn, 'turnId' | 'missing'>,
  { cortexId, reason, attempt }: { readonly cortexId: string; readonly reason: string; readonly attempt: number },
): readonly EventDraft[] => {
  if (attempt !== missing + 1) return [];
  return [
    draft({ type: 'AnswerMissing', data: { turnId, cortexId, reason, attempt } }),
    ...(attempt < ATTEMPTS ? [] : [draft({ type: 'TurnFailed', data: { turnId, code: 'CORTEX_NO_ANSWER', reason } })]),
  ];
};

export const expiredEvents = ({ turnId }: Pick<OpenedTurn, 'turnId'>): readonly EventDraft[] => [
  draft({ type: 'TurnExpired', data: { turnId } }),
];
