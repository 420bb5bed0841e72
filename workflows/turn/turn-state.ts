import type {
  Actor,
  Exchange,
  Instruction,
  NpcEvent,
  RecalledMemory,
  Speaker,
} from '../../src/features/npcs/domain/events.js';
import type { RulesetUsed } from '../../src/features/rules/domain/ruleset.js';
import type { Json, JsonObject } from '../../src/kernel/base/json.js';

/** The data with which a turn was opened. */
export type Opening = {
  readonly turnId: string;
  readonly observation: string;
  readonly context: Json;
  readonly npcState: JsonObject;
  readonly persona?: string;
  /** Who speaks; absent if nobody is named. */
  readonly player?: Speaker;
  /** The context that the player sent with a token. It is only shown. */
  readonly playerContext?: JsonObject;
  readonly actor?: Actor;
  readonly memories?: readonly RecalledMemory[];
  readonly resumedFrom?: string;
  /** What was said before, oldest first. The opening of an agent's turn always has it. */
  readonly conversation?: readonly Exchange[];
  /** The time from which the prompt tells ages; absent for turns of bodies. */
  readonly promptAt?: string;
  /** How many tokens the prompt may take, if a limit is known. */
  readonly promptBudget?: number;
  /** It runs on this server, without a body. */
  readonly agent?: true;
  /** The outcome of the rules' patterns for the observation, evaluated once, when the turn is opened. */
  readonly patternsHeld?: readonly string[];
  readonly deadlineAt: string;
};

/** One answered round: its input, its answer, and the event that records it. */
export type Round = {
  readonly result: Json;
  readonly instruction: Instruction | Finalized;
  readonly revision: number;
  readonly at: string;
};

/** The last instruction as recorded; the signature is made when the server answers. */
export type Finalized = { readonly type: 'Finalize' };

export type TurnName =
  'new' | 'awaitingActor' | 'awaitingMemories' | 'awaitingInference' | 'ended' | 'failed' | 'expired';

/** A turn as its events leave it; plain JSON. */
export type TurnState =
  /** `RulesetMissing` comes before the opening in the same append. */
  | { readonly name: 'new'; readonly rulesetMissing?: string }
  | (Opening & {
      readonly name: Exclude<TurnName, 'new'>;
      readonly commandId: string;
      readonly openedAt: string;
      readonly endedAt?: string;
      readonly ruleset: RulesetUsed | null;
      /** The version of the decision logic when the turn was opened, which decides it to its end. */
      readonly logic: number;
      readonly rulesetMissing?: string;
      readonly generatedOutput?: string;
      readonly verdict?:
        Extract<NpcEvent, { type: 'VerdictReached' }>['data'] | Extract<NpcEvent, { type: 'VerdictRefused' }>['data'];
      readonly rounds: readonly Round[];
      /** The round that recorded each kind of result. */
      readonly roundOf: { readonly actor?: number; readonly memories?: number; readonly output?: number };
      /** How many times the engine gave no text. */
      readonly missing?: number;
      /** The engine refused the prompt because of its length, and got a shorter one. */
      readonly shortened?: true;
      /** Why a turn without a verdict ended. */
      readonly failure?: { readonly code: string; readonly reason: string };
      /** The contradictions that were already noted, by their keys. */
      readonly mismatches: readonly string[];
    });
export type OpenedTurn = Exclude<TurnState, { name: 'new' }>;

type Mismatch = Extract<NpcEvent, { type: 'TapeMismatchNoticed' }>['data'];
export type TurnInput =
  /** `rulesetId` chooses the rules; the version that it resolved to is recorded. */
  | ({ readonly type: 'open'; readonly rulesetId?: string } & Opening)
  | { readonly type: 'actor'; readonly actor: Actor }
  | { readonly type: 'memories'; readonly memories: readonly RecalledMemory[] }
  | { readonly type: 'output'; readonly generatedOutput: string }
  /** Requests a round's answer again; the latest if it names no round. */
  | { readonly type: 'look'; readonly round?: number }
  | { readonly type: 'mismatch'; readonly round: number; readonly members: Mismatch['members'] }
  | { readonly type: 'deadline' };
