import type { BuiltPrompt } from './domain/decision/prompt.js';
import type { LeftOutPart } from './domain/decision/left-out.js';
import { type PromptPart, promptTokens } from './domain/decision/prompt-parts.js';
import type { TurnRequest } from './domain/decision/turn-facts.js';
import type { npcEvents, Instruction } from '../npcs/domain/events.js';
import type { DirectiveRuleSet } from '../rules/domain/ruleset.js';
import type { JsonObject } from '../../kernel/base/json.js';
import { sha256Base64url } from '../../kernel/crypto/sha256.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { promptAgain, type Prompted } from './prompt-again.js';

/** The prompt of a turn as recorded. */
export type RecordedPrompt = {
  readonly text: string;
  readonly constraints: JsonObject;
  /** The base64url SHA-256 of the text. */
  readonly digest: string;
  /** Whether the record produces the same prompt again. */
  readonly madeAgain: boolean;
  /** What it is made of, in its order; absent if the record does not produce the same prompt. */
  readonly parts?: readonly PromptPart[];
  /** Of these parts, by the server's own counter. */
  readonly tokens?: number;
  /** The most tokens that the prompt may take; absent without a limit. */
  readonly budget?: number;
  /** Whether something was left out because of the budget; absent without one. */
  readonly isShortened?: boolean;
  /** What was; absent if nothing was. */
  readonly leftOut?: readonly LeftOutPart[];
};

/** What a prompt that the record produces again is made of, and how long it is. */
const madeOf = ({ parts, isShortened, leftOut }: BuiltPrompt, budget: number | undefined) => ({
  parts,
  tokens: promptTokens(parts),
  ...(budget === undefined ? {} : { budget, isShortened }),
  ...(isShortened ? { leftOut } : {}),
});

/** A decoded event of a turn. */
export type TurnEvent = ReturnType<typeof npcEvents.decode>;

/** The prompt as recorded, and what it was made from. */
type Recorded = Prompted & { readonly prompt: string; readonly constraints: JsonObject };

const promptedBy = (known: readonly TurnEvent[]): Recorded | null => {
  let asked = null as TurnRequest | null;
  const prompted = (
    { mindRevision, logic }: { readonly mindRevision: number; readonly logic: number },
    instruction: Instruction,
  ): Recorded | null =>
    asked === null || instruction.type !== 'ExecuteInference'
      ? null
      : { asked, mindRevision, logic, prompt: instruction.prompt, constraints: instruction.constraints };
  let found: Recorded | null = null;
  for (const event of known) {
    switch (event.type) {
      case 'TurnOpened':
        asked = event.data;
        found = prompted(event.data, event.data.instruction) ?? found;
        break;
      case 'ActorIdentified':
        if (asked !== null) asked = { ...asked, actor: event.data.actor };
        break;
      case 'MemoriesRecalled':
        if (asked !== null) asked = { ...asked, memories: event.data.memories };
        found = prompted(event.data, event.data.instruction) ?? found;
        break;
      case 'PromptShortened':
        if (asked !== null) asked = { ...asked, promptBudget: event.data.budget };
        found = prompted(event.data, event.data.instruction) ?? found;
        break;
      case 'ContextBuilt': {
        const { mindRevision, logic, prompt, constraints } = event.data;
        found = { asked: event.data, mindRevision, logic, prompt, constraints };
        break;
      }
      default:
    }
  }
  return found;
};

/** The prompt of a turn with these events, and whether the record reproduces it; null if the turn has none. */
export const promptOf = async (
  deps: { readonly writers: StreamWriters },
  of: { readonly tenant: string; readonly npcId: string; readonly ruleset: DirectiveRuleSet | null },
  known: readonly TurnEvent[],
): Promise<RecordedPrompt | null> => {
  const prompted = promptedBy(known);
  if (prompted === null) return null;
  const { prompt, constraints, asked } = prompted;
  const again = await promptAgain(deps, of, prompted);
  const digest = sha256Base64url(prompt);
  const madeAgain = again.prompt === prompt;
  return { text: prompt, constraints, digest, madeAgain, ...(madeAgain ? madeOf(again, asked.promptBudget) : {}) };
};
