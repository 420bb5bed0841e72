import { recordedAnswer } from '../turns/domain/decision/bridge-checked.js';
import type { Logic } from '../turns/domain/decision/logic.js';
import type { TurnFacts, TurnRequest } from '../turns/domain/decision/turn-facts.js';
import type { NpcEvent, Verdict, VerdictGrounds } from '../npcs/domain/events.js';
import type { MindSummary } from '../npcs/domain/state.js';
import type { DirectiveRuleSet, RulesetUsed } from '../rules/domain/ruleset.js';
import { isObject, type JsonObject } from '../../kernel/base/json.js';
import { askForMemories, askForOutput, keeping } from '../../../workflows/turn/turn-events.js';
import type { OpenedTurn } from '../../../workflows/turn/turn-state.js';

/** The events that a decision made (docs/adr/0012). */
export type DecisionEvent = Extract<
  NpcEvent,
  { readonly data: { readonly mindRevision: number; readonly logic: number } }
>;

export const isDecision = (event: { readonly type: string; readonly data: unknown }): event is DecisionEvent =>
  isObject(event.data) && typeof event.data['logic'] === 'number';

/** The decision without its grounds. Its members are those of the event. */
export type DecisionOutcome = JsonObject;

/** The basis on which a decision is replayed. */
export type RedecisionBasis = {
  readonly logic: Logic;
  readonly npcId: string;
  /** The mind at the time of the decision. */
  readonly mind: MindSummary;
  /** The turn before this event; absent for its first event, and for an event that is not a step of a turn. */
  readonly turn: OpenedTurn | undefined;
  readonly rules: DirectiveRuleSet | null;
  /** Which patterns of the rules match the observation of the turn; undefined: as recorded. */
  readonly patternsHeld: readonly string[] | undefined;
  /** A replacement for the model's text; absent: the recorded one. */
  readonly output: string | undefined;
};

const SIGNED_BY = { kid: '', iss: '' };

const factsOf = ({ npcId, mind, rules }: RedecisionBasis): TurnFacts => ({
  npcId,
  mind: { persona: mind.persona, data: mind.data, facts: mind.facts ?? {}, revision: mind.revision },
  ruleset: rules,
  rulesetRef: null,
  issuer: SIGNED_BY,
});

/** The version of the rules that a decision rests on, and the observation that their patterns were tried on. */
export const restsOn = (
  event: DecisionEvent,
  turn: OpenedTurn | undefined,
): { readonly ruleset: RulesetUsed | null; readonly observation: string } => {
  switch (event.type) {
    case 'TurnOpened':
    case 'DirectiveGiven':
    case 'ContextBuilt':
      return event.data;
    case 'BridgeChecked':
      return { ruleset: event.data.ruleset, observation: '' };
    case 'VerdictReached':
    case 'VerdictRefused':
      if (event.data.asked !== undefined) return event.data.asked;
      break;
    default:
  }
  return { ruleset: turn?.ruleset ?? null, observation: turn?.observation ?? '' };
};

const patternsOf = (basis: RedecisionBasis, recorded: readonly string[] | undefined): readonly string[] =>
  basis.patternsHeld ?? recorded ?? [];

const withPatterns = <Request extends TurnRequest>(basis: RedecisionBasis, request: Request): Request => ({
  ...request,
  patternsHeld: patternsOf(basis, request.patternsHeld),
});

const verdictOf = (verdict: Verdict, grounds: VerdictGrounds): DecisionOutcome =>
  ({ verdict, grounds }) as unknown as DecisionOutcome;

/** The recorded decision of an event. */
export const outcomeOf = ({ type, data }: DecisionEvent): DecisionOutcome => {
  const outcome = ((): object => {
    switch (type) {
      case 'TurnOpened':
      case 'ActorIdentified':
        return { instruction: data.instruction, ...(data.actorDataKept === false ? { actorDataKept: false } : {}) };
      case 'MemoriesRecalled':
      case 'PromptShortened':
        return { instruction: data.instruction };
      case 'VerdictReached':
      case 'VerdictRefused':
        return { verdict: data.verdict, grounds: data.grounds };
      case 'DirectiveGiven':
        return traced(data, { memoryRecall: data.memoryRecall });
      case 'ContextBuilt':
        return traced(data, { prompt: data.prompt, constraints: data.constraints, ctxMessages: data.ctxMessages });
      case 'BridgeChecked':
        return {
          ...{ valid: data.valid, reason: data.reason, correctedAction: data.correctedAction, code: data.code },
          details: data.details,
        };
    }
  })();
  return outcome as DecisionOutcome;
};

const traced = (
  { rules, seen, seenLeftOut }: Pick<VerdictGrounds, 'rules' | 'seen' | 'seenLeftOut'>,
  made: object,
) => ({
  ...made,
  rules,
  seen,
  ...(seenLeftOut === undefined ? {} : { seenLeftOut }),
});

/** Repeats a decision from its recorded inputs, without a model, a clock or random numbers. @returns its new outcome */
export const decideAgain = (basis: RedecisionBasis, event: DecisionEvent): DecisionOutcome => {
  const { turn, logic } = basis;
  const facts = factsOf(basis);
  const { effectiveInput, giveDirective, buildPrompt, reachVerdict } = logic;
  switch (event.type) {
    case 'TurnOpened': {
      const opening = withPatterns(basis, event.data);
      const { actor, memories, agent } = opening;
      const instruction =
        actor === undefined && agent !== true
          ? { type: 'IdentifyActor' }
          : memories === undefined
            ? askForMemories(logic, facts, opening)
            : askForOutput(logic, facts, opening);
      return { instruction, ...keeping(facts, actor) };
    }
    case 'ActorIdentified': {
      const { actor } = event.data;
      return {
        instruction: askForMemories(logic, facts, withPatterns(basis, { ...required(turn), actor })),
        ...keeping(facts, actor),
      };
    }
    case 'MemoriesRecalled': {
      const { memories } = event.data;
      return { instruction: askForOutput(logic, facts, withPatterns(basis, { ...required(turn), memories })) };
    }
    case 'PromptShortened': {
      const shortened = { ...required(turn), promptBudget: event.data.budget };
      return { instruction: askForOutput(logic, facts, withPatterns(basis, shortened)) };
    }
    case 'VerdictReached':
    case 'VerdictRefused': {
      const request: TurnRequest = event.data.asked ?? required(turn);
      const { verdict, grounds } = reachVerdict(
        effectiveInput(facts, withPatterns(basis, request)),
        basis.output ?? event.data.generatedOutput,
      );
      return verdictOf(verdict, grounds);
    }
    case 'DirectiveGiven': {
      const { memoryRecall, trace } = giveDirective(effectiveInput(facts, withPatterns(basis, event.data)));
      return traced(trace, { memoryRecall });
    }
    case 'ContextBuilt': {
      const built = buildPrompt(effectiveInput(facts, withPatterns(basis, event.data)));
      const { prompt, constraints, ctxMessages, trace } = built;
      return traced(trace, { prompt, constraints, ctxMessages });
    }
    case 'BridgeChecked': {
      const { action, context, patternsHeld } = event.data;
      return recordedAnswer(logic, {
        ...{ action, context, recorded: basis.mind.data, facts: basis.mind.facts ?? {}, ruleset: basis.rules },
        patternsHeld: patternsOf(basis, patternsHeld),
      }) as DecisionOutcome;
    }
  }
};

const required = (turn: OpenedTurn | undefined): OpenedTurn => {
  if (turn === undefined) throw new Error('a step of a turn was recorded before the turn was opened');
  return turn;
};
