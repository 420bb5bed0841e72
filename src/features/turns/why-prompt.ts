import { logicOf } from './domain/decision/logic.js';
import type { TurnRequest } from './domain/decision/turn-facts.js';
import type { npcEvents, Instruction } from '../npcs/domain/events.js';
import type { MindState } from '../npcs/domain/state.js';
import type { DirectiveRuleSet } from '../rules/domain/ruleset.js';
import type { JsonObject } from '../../kernel/base/json.js';
import { sha256Base64url } from '../../kernel/crypto/sha256.js';
import { mindAsOf } from '../npcs/find-mind.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { factsFrom } from './facts-from.js';

/** The prompt of a turn as recorded. */
export type RecordedPrompt = {
  readonly text: string;
  readonly constraints: JsonObject;
  /** The base64url SHA-256 of the text. */
  readonly digest: string;
  /** Whether the record produces the same prompt again. */
  readonly madeAgain: boolean;
};

/** A decoded event of a turn. */
export type TurnEvent = ReturnType<typeof npcEvents.decode>;

/** What a prompt was made from: the turn at that time. */
type Prompted = {
  readonly asked: TurnRequest;
  readonly mindRevision: number;
  readonly logic: number;
  readonly prompt: string;
  readonly constraints: JsonObject;
};

const promptedBy = (known: readonly TurnEvent[]): Prompted | null => {
  let asked = null as TurnRequest | null;
  const prompted = (
    { mindRevision, logic }: { readonly mindRevision: number; readonly logic: number },
    instruction: Instruction,
  ): Prompted | null =>
    asked === null || instruction.type !== 'ExecuteInference'
      ? null
      : { asked, mindRevision, logic, prompt: instruction.prompt, constraints: instruction.constraints };
  let found: Prompted | null = null;
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
  { writers }: { readonly writers: StreamWriters },
  {
    tenant,
    npcId,
    ruleset,
  }: { readonly tenant: string; readonly npcId: string; readonly ruleset: DirectiveRuleSet | null },
  known: readonly TurnEvent[],
): Promise<RecordedPrompt | null> => {
  const prompted = promptedBy(known);
  if (prompted === null) return null;
  const { asked, mindRevision, logic, prompt, constraints } = prompted;
  const mind: Pick<MindState, 'persona' | 'data' | 'facts' | 'revision'> =
    (mindRevision < 0 ? null : await mindAsOf(writers, tenant, npcId, { revision: mindRevision })) ??
    ({ persona: null, data: null, facts: null, revision: -1 } as const);
  const { effectiveInput, buildPrompt } = logicOf(logic);
  const facts = factsFrom(npcId, { ruleset, used: null }, mind, { kid: '', iss: '' });
  const again = buildPrompt(effectiveInput(facts, asked));
  const digest = sha256Base64url(prompt);
  return { text: prompt, constraints, digest, madeAgain: sha256Base64url(again.prompt) === digest };
};
