import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { type Logic, logicOf } from '../../src/features/turns/domain/decision/logic.js';
import { keepsActorData, type TurnFacts } from '../../src/features/turns/domain/decision/turn-facts.js';
import type {
  Instruction,
  NpcEvent,
  RecallBasis,
  RecalledMemory,
  Speaker,
} from '../../src/features/npcs/domain/events.js';
import { countTokens } from '../../src/kernel/model-text/count-tokens.js';
import type { JsonObject } from '../../src/kernel/base/json.js';
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
  { memories, recall }: { readonly memories: readonly RecalledMemory[]; readonly recall?: RecallBasis },
  facts: TurnFacts,
): readonly EventDraft[] => [
  draft({
    type: 'MemoriesRecalled',
    data: {
      turnId: state.turnId,
      mindRevision: facts.mind.revision,
      logic: state.logic,
      memories,
      ...defined({ recall }),
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
  return verdictEvents(state, reached, { issuer: facts.issuer, facts: facts.mind.facts });
};

/** The events that record a verdict, including one requested outside a turn. */
export const verdictEvents = (
  { turnId, player }: { readonly turnId: string; readonly player?: Speaker },
  reached: Omit<Extract<NpcEvent, { type: 'VerdictReached' }>['data'], 'turnId' | 'kid' | 'iss'>,
  { issuer, facts }: Pick<TurnFacts, 'issuer'> & { readonly facts: JsonObject | null },
): readonly EventDraft[] => {
  const { verdict, logic } = reached;
  const { gameTimeOf } = logicOf(logic);
  if (!verdict.valid) return [draft({ type: 'VerdictRefused', data: { turnId, ...reached } })];
  return [
    draft({ type: 'VerdictReached', data: { turnId, ...reached, ...issuer } }),
    ...(Object.keys(verdict.stateDelta).length === 0
      ? []
      : [draft({ type: 'StateChanged', data: { turnId, patch: verdict.stateDelta } })]),
    ...verdict.memoryStore.map((memory, index) =>
      draft({
        type: 'MemoryStored',
        data: {
          turnId,
          memoryId: `${turnId}-${String(index)}`,
          ...memory,
          ...defined({ player, gameTime: gameTimeOf(memory.type, facts) }),
        },
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

/** The part of a prompt that is tried if nobody knows how long it may be. */
const HALF = 1 / 2;

/** A refusal because of the length of the prompt. */
export type TooLong = {
  readonly cortexId: string;
  readonly reason: string;
  readonly attempt: number;
  /** How many tokens a prompt may take, as the refusal says; absent if it does not. */
  readonly budget?: number;
};

/**
 * The engine refuses the prompt because of its length: a shorter one, once in a turn. A turn that has had it, or that cannot have it, treats this as a
 * missing answer.
 */
export const tooLongEvents = (
  state: OpenedTurn,
  { budget: said, ...refused }: TooLong,
  facts: TurnFacts,
): readonly EventDraft[] => {
  const { turnId, logic, rounds, missing = 0 } = state;
  const { cortexId, reason, attempt } = refused;
  const asked = rounds.at(-1)?.instruction;
  // Turns that were opened before prompts had budgets record no time either.
  if (state.shortened === true || state.promptAt === undefined || asked?.type !== 'ExecuteInference')
    return missingEvents(state, refused);
  if (attempt !== missing + 1) return [];
  const counted = countTokens(asked.prompt);
  const budget = said !== undefined && said < counted ? said : Math.floor(counted * HALF);
  const instruction = askForOutput(logicOf(logic), facts, { ...state, promptBudget: budget });
  if (instruction.type !== 'ExecuteInference' || instruction.prompt.length >= asked.prompt.length)
    return missingEvents(state, refused);
  const basis = { mindRevision: facts.mind.revision, logic };
  return [draft({ type: 'PromptShortened', data: { turnId, ...basis, budget, cortexId, reason, instruction } })];
};

export const expiredEvents = ({ turnId }: Pick<OpenedTurn, 'turnId'>): readonly EventDraft[] => [
  draft({ type: 'TurnExpired', data: { turnId } }),
];
