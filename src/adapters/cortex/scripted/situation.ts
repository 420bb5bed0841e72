import type { JsonObject } from '../../../kernel/base/json.js';

/** The demands of a prompt's rules, highest first. `because` and `target` are the rule's own texts, null if it has none. */
export type Demand =
  | { readonly kind: 'act'; readonly type: string; readonly target: string | null; readonly because: string | null }
  /** `*` means every action. */
  | { readonly kind: 'forbid'; readonly types: readonly string[]; readonly because: string | null }
  /** A sentence for the speaker, such as "refuse politely". */
  | { readonly kind: 'tone'; readonly text: string; readonly because: string | null };

/** One exchange of the conversation: what was perceived, and what was said in answer. */
export type Before = { readonly heard: string; readonly said: string };

/** A memory; `similarity` is how well it matches the utterance, 0 to 1, if known. */
export type Memory = { readonly text: string; readonly similarity?: number };

/** What the engine was given: the speaker, the surroundings, the memories, the demands, and the last utterance. */
export type PromptContent = {
  /** Null if nobody is named. */
  readonly persona: string | null;
  readonly state: JsonObject;
  readonly around: JsonObject;
  /** Most similar first. */
  readonly memories: readonly Memory[];
  /** The conversation, oldest first. */
  readonly before: readonly Before[];
  readonly demands: readonly Demand[];
  readonly observation: string;
};
