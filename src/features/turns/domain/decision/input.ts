import type { DirectiveRuleSet } from '../../../rules/domain/ruleset.js';
import type { Json, JsonObject } from '../../../../kernel/base/json.js';
import type { Exchange, RecalledMemory } from '../../../npcs/domain/events.js';
import type { TextRules } from './text-rules.js';

/** Everything that a decision depends on. The same input gives the same decision, byte for byte. */
export type DecisionInput = {
  readonly npcId: string;
  readonly observation: string;
  /** The tape's context; its `worldState` and `constraints` are for the bridge. */
  readonly context: Json;
  /** The mind's own data, which a state change patches. */
  readonly data: JsonObject;
  /** What the game reported of the mind, which neither the tape nor the model can change. */
  readonly facts: JsonObject;
  /** The mind's data, overlaid with the tape's `npcState`. */
  readonly npcState: JsonObject;
  readonly persona: string | null;
  readonly memories: readonly RecalledMemory[];
  /** What was said before, oldest first. */
  readonly conversation: readonly Exchange[];
  /** The time from which the prompt tells ages, RFC 3339; absent: it tells none. */
  readonly promptAt?: string;
  /** How many tokens the prompt may take; absent: as many as its parts have. */
  readonly promptBudget?: number;
  /** The ruleset that applies; null to decide without rules. */
  readonly ruleset: DirectiveRuleSet | null;
  /** The rules whose pattern matches the observation, by id (src/features/rules/domain/hold-patterns.ts). */
  readonly patternsHeld: readonly string[];
  /** How the logic that decides reads and guards texts. */
  readonly texts: TextRules;
};
