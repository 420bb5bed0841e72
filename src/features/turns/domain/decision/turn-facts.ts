import type { Json, JsonObject } from '../../../../kernel/base/json.js';
import { defined } from '../../../../kernel/base/defined.js';
import { mergePatch } from '../../../../kernel/base/merge-patch.js';
import type { DirectiveRuleSet, RulesetUsed } from '../../../rules/domain/ruleset.js';
import type { DecisionInput } from './input.js';
import type { Actor, Exchange, RecalledMemory } from '../../../npcs/domain/events.js';
import { DATA_BYTES, dataBytes } from '../../../npcs/domain/mind-data.js';
import type { TextRules } from './text-rules.js';

/** The facts of a decision other than the turn. They are recorded by reference (revision, version), so a replay can load them again. */
export type TurnFacts = {
  readonly npcId: string;
  readonly mind: {
    readonly persona: string | null;
    readonly data: JsonObject | null;
    readonly facts: JsonObject;
    readonly revision: number;
  };
  readonly ruleset: DirectiveRuleSet | null;
  readonly rulesetRef: RulesetUsed | null;
  /** The requested id, if it is not registered. */
  readonly rulesetMissing?: string;
  /** The result of the rules' patterns, for an observation that is decided on for the first time; later it is read from the record. */
  readonly patternsHeld?: readonly string[];
  /** The key and the issuer that sign a valid verdict. */
  readonly issuer: { readonly kid: string; readonly iss: string };
};

/** The inputs of a decision, for a turn or a stateless route. */
export type TurnRequest = {
  readonly observation: string;
  readonly context?: Json;
  readonly npcState: JsonObject;
  readonly persona?: string;
  readonly actor?: Actor;
  readonly memories?: readonly RecalledMemory[];
  readonly conversation?: readonly Exchange[];
  readonly promptAt?: string;
  readonly promptBudget?: number;
  /** Which patterns matched, either evaluated before the decision or recorded by the event that opened the turn. */
  readonly patternsHeld?: readonly string[];
};

/** Whether a mind without data adopts its actor's data; otherwise only this turn uses the actor's data. */
export const keepsActorData = (mind: TurnFacts['mind'], actor: Actor | undefined): boolean =>
  mind.data !== null || actor === undefined || dataBytes(actor.data) <= DATA_BYTES;

/** `npcState` overlays the mind's data for this decision only. If the mind has no data yet, the actor's data is used. */
export const effectiveInput = (facts: TurnFacts, asked: TurnRequest, texts: TextRules): DecisionInput => ({
  npcId: facts.npcId,
  observation: asked.observation,
  context: asked.context ?? {},
  data: facts.mind.data ?? (keepsActorData(facts.mind, asked.actor) ? asked.actor?.data : undefined) ?? {},
  facts: facts.mind.facts,
  npcState: mergePatch(facts.mind.data ?? asked.actor?.data ?? {}, asked.npcState),
  persona: asked.persona ?? facts.mind.persona ?? asked.actor?.persona ?? null,
  memories: asked.memories ?? [],
  conversation: asked.conversation ?? [],
  ...defined({ promptAt: asked.promptAt, promptBudget: asked.promptBudget }),
  ruleset: facts.ruleset,
  patternsHeld: asked.patternsHeld ?? [],
  texts,
});
