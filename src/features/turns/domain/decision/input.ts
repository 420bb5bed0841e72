import type { DirectiveRuleSet } from '../../../rules/domain/ruleset.js';
import type { Json, JsonObject } from '../../../../kernel/base/json.js';
import type { RecalledMemory } from '../../../npcs/domain/events.js';

/** Everything that a decision depends on. The same input gives the same decision, byte for byte. */
export type DecisionInput = {
  readonly npcId: string;
  readonly observation: string;
  /** The tape's context; `worldState` and `constraints` in it are the bridge's. */
  readonly context: Json;
  /** The mind's own data, which a change of state patches. */
  readonly data: JsonObject;
  /** The mind's data with the tape's `npcState` laid over it. */
  readonly npcState: JsonObject;
  readonly persona: string | null;
  readonly memories: readonly RecalledMemory[];
  /** The set that applies; null decides without rules. */
  readonly ruleset: DirectiveRuleSet | null;
  /** Its rules whose pattern matches the observation, by id (src/features/rules/domain/hold-patterns.ts). */
  readonly patternsHeld: readonly string[];
};
