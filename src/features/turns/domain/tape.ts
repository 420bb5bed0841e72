import type { Json, JsonObject } from '../../../kernel/base/json.js';
import type { Actor, RecalledMemory } from '../../npcs/domain/events.js';

/** A tape as the body sent it, validated and without `null` members. `extra` holds the members that the protocol does not define. */
export type Tape = {
  readonly turnId?: string;
  readonly observation: string;
  readonly context: Json;
  readonly npcState: JsonObject;
  readonly persona?: string;
  readonly actor?: Actor;
  readonly memories: readonly RecalledMemory[];
  readonly vectorQueried: boolean;
  readonly generatedOutput?: string;
  readonly rulesetId?: string;
  readonly extra: JsonObject;
};

/** The result that a body sends with its next step. */
export type TapeResult =
  | { readonly type: 'IdentifyActorResult'; readonly actor: Actor }
  | { readonly type: 'QueryVectorResult'; readonly memories: readonly RecalledMemory[] }
  | { readonly type: 'ExecuteInferenceResult'; readonly generatedOutput: string };
