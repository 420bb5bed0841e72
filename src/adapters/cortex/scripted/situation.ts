import type { JsonObject } from '../../../kernel/base/json.js';

/** What the rules of a prompt ask, highest first. `because` and `target` are the rule's own texts, null where it has none. */
export type Demand =
  | { readonly kind: 'act'; readonly type: string; readonly target: string | null; readonly because: string | null }
  /** `*` stands for every action. */
  | { readonly kind: 'forbid'; readonly types: readonly string[]; readonly because: string | null }
  /** A sentence for the one who speaks, such as "refuse politely". */
  | { readonly kind: 'tone'; readonly text: string; readonly because: string | null };

/** What a prompt says, taken apart: who speaks, what is around, what is remembered, what is asked, and what was just said. */
export type PromptContent = {
  /** Null when the prompt names nobody. */
  readonly persona: string | null;
  readonly state: JsonObject;
  readonly around: JsonObject;
  /** Most fitting first. */
  readonly memories: readonly string[];
  /** How well each of them fits what was said, 0 to 1; null when nobody said so. */
  readonly similarities: readonly number[] | null;
  readonly demands: readonly Demand[];
  readonly observation: string;
  /** Whether the prompt asks for a JSON object. */
  readonly wantsJson: boolean;
};
