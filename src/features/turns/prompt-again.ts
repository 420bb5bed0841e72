import { logicOf } from './domain/decision/logic.js';
import type { BuiltPrompt } from './domain/decision/prompt.js';
import type { PromptPart } from './domain/decision/prompt-parts.js';
import type { TurnRequest } from './domain/decision/turn-facts.js';
import type { RecalledMemory } from '../npcs/domain/events.js';
import type { MindState } from '../npcs/domain/state.js';
import { mindAsOf } from '../npcs/find-mind.js';
import type { DirectiveRuleSet } from '../rules/domain/ruleset.js';
import { defined } from '../../kernel/base/defined.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import type { CompletionPart } from '../../ports/cortex.js';
import { factsFrom } from './facts-from.js';

/** What a prompt was made from: the turn at that time. */
export type Prompted = {
  readonly asked: TurnRequest;
  /** The last revision of the mind before it. */
  readonly mindRevision: number;
  readonly logic: number;
};

/** The prompt of a decision, made again from its record; the caller checks whether it is the same. */
export const promptAgain = async (
  { writers }: { readonly writers: StreamWriters },
  {
    tenant,
    npcId,
    ruleset,
  }: { readonly tenant: string; readonly npcId: string; readonly ruleset: DirectiveRuleSet | null },
  { asked, mindRevision, logic }: Prompted,
): Promise<BuiltPrompt> => {
  const mind: Pick<MindState, 'persona' | 'data' | 'facts' | 'revision'> =
    (mindRevision < 0 ? null : await mindAsOf(writers, tenant, npcId, { revision: mindRevision })) ??
    ({ persona: null, data: null, facts: null, revision: -1 } as const);
  const { effectiveInput, buildPrompt } = logicOf(logic);
  return buildPrompt(effectiveInput(factsFrom(npcId, { ruleset, used: null }, mind, { kid: '', iss: '' }), asked));
};

/** The parts of a prompt for an engine that takes them, with the similarity of each memory. */
export const partsForEngine = (
  parts: readonly PromptPart[],
  memories: readonly Pick<RecalledMemory, 'memoryId' | 'similarity'>[],
): readonly CompletionPart[] => {
  const similarities = new Map(memories.map(({ memoryId, similarity }) => [memoryId, similarity]));
  return parts.map(({ text, from, ref }) => ({
    text,
    from,
    ...defined({ similarity: from === 'memory' && ref !== undefined ? similarities.get(ref) : undefined }),
  }));
};
