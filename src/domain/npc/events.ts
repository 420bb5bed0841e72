import type { Action } from '../bridge/action.js';
import type { BridgeCheck } from '../bridge/bridge-check.js';
import type { RulesTrace } from '../rules/rules-trace.js';
import type { Json, JsonObject } from '../shared/json.js';
import type { CustodyLink, LeftOut, SoulRuleset, SoulSigner } from '../shared/soul-origin.js';

/**
 * The events of a mind's stream, by type. Shapes are storage: never changed, only upcast (docs/adr/0004).
 * What a client dropped or left out is absent here, never null, unless null means something.
 */

export type Actor = { readonly npcId: string; readonly persona: string | null; readonly data: JsonObject };
export type RecalledMemory = {
  readonly text: string;
  readonly type: string;
  readonly importance: number;
  readonly similarity: number;
  /** Only of a memory that this server recalled: which one, the revision that stored it, and what its score was made from. */
  readonly memoryId?: string;
  readonly revision?: number;
  readonly scoreParts?: Readonly<Record<string, number>>;
};
export type MemoryDraft = { readonly text: string; readonly type: string; readonly importance: number };
export type RulesetRef = { readonly rulesetId: string; readonly version: number };

export type Instruction =
  | { readonly type: 'IdentifyActor' }
  | { readonly type: 'QueryVector'; readonly query: string; readonly limit: number; readonly threshold: number }
  | { readonly type: 'ExecuteInference'; readonly prompt: string; readonly constraints: JsonObject };

/** What the mind decided on a model's text. Signed when valid. */
export type Verdict = {
  readonly valid: boolean;
  readonly dialogue: string;
  readonly action: Action | null;
  readonly stateDelta: JsonObject;
  readonly memoryStore: readonly MemoryDraft[];
  /** Only when invalid: what was refused, by which code, with which details. */
  readonly refusedAction?: Action | null;
  readonly code?: string;
  readonly details?: JsonObject;
};

/** What the decision rested on besides its inputs; shown by `why`. */
export type VerdictGrounds = RulesTrace & { readonly checks: readonly BridgeCheck[] };

export type TurnKind = 'process' | 'directive' | 'context' | 'verdict';

/** What every event of a turn carries. */
type OfTurn = { readonly turnId: string };
/** What every event of an export carries. */
type OfSoul = { readonly soulId: string };
/** Only of a turn that ran on this server: the engine that made the text. */
type ByEngine = { readonly cortexId?: string };
/** What every event says that a decision made. */
type DecisionBasis = {
  /** The mind's revision whose persona and data the decision saw (-1: nothing yet). Replay folds the stream to it. */
  readonly mindRevision: number;
  /** The number of the logic that decided (docs/adr/0012). */
  readonly logic: number;
};
/** Only if an actor's data is larger than a mind's may be: only this turn uses it (contract 1.2). */
type OfActor = { readonly actorDataKept?: false };
/** Only when a character card was imported: the card as it came, and the base64url SHA-256 of its JCS form (contract 8.9). */
type OfCard = { readonly card?: { readonly digest: string; readonly content: JsonObject } };
/** The rules whose pattern matches the observation, found before anything is decided; decisions and replay read them here. Absent: none. */
type OnPatterns = { readonly patternsHeld?: readonly string[] };

/** Where a memory that a soul brought was stored first: events of the server that exported it. */
export type MemorySource = OfSoul & {
  readonly turnId: string | null;
  readonly eventId: string;
  readonly revision: number;
};

type ArrivedSoul = OfSoul & {
  readonly importId: string;
  /** Of the document. */
  readonly digest: string;
  /** Whether it came in beside its source, under another npcId. */
  readonly copy: boolean;
  readonly signer: SoulSigner;
  /** What lists called it (contract 8.7). */
  readonly name: string;
  /** Absent: it had none. */
  readonly persona?: string;
  readonly data?: JsonObject;
  /** The rules that it followed there. */
  readonly ruleset: SoulRuleset | null;
  /** The souls that it came from, oldest first; this one is the last. */
  readonly chain: readonly CustodyLink[];
};

export type NpcEvent =
  | { type: 'NpcRegistered'; data: OfCard & { readonly persona?: string; readonly data?: JsonObject } }
  /** Members given replace whole. */
  | { type: 'NpcUpdated'; data: OfCard & { readonly persona?: string; readonly data?: JsonObject } }
  | { type: 'NpcArchived'; data: Record<string, never> }
  | {
      type: 'TurnOpened';
      data: OfTurn &
        DecisionBasis &
        OfActor &
        OnPatterns & {
          readonly observation: string;
          readonly context: Json;
          readonly npcState: JsonObject;
          readonly persona?: string;
          readonly actor?: Actor;
          /** Only in a resumed turn, whose tape brought them. */
          readonly memories?: readonly RecalledMemory[];
          readonly ruleset: RulesetRef | null;
          readonly resumedFrom?: string;
          /** Only of a turn that runs on this server, without a body (contract 7.1). */
          readonly agent?: true;
          readonly deadlineAt: string;
          readonly instruction: Instruction;
        };
    }
  | { type: 'RulesetMissing'; data: OfTurn & { readonly rulesetId: string } }
  | {
      type: 'ActorIdentified';
      data: OfTurn & DecisionBasis & OfActor & { readonly actor: Actor; readonly instruction: Instruction };
    }
  | {
      type: 'MemoriesRecalled';
      data: OfTurn &
        DecisionBasis & { readonly memories: readonly RecalledMemory[]; readonly instruction: Instruction };
    }
  /** Ends a turn of kind `process`, or is all of a turn of kind `verdict` (then it brings its own inputs). */
  | {
      type: 'VerdictReached';
      data: OfTurn &
        DecisionBasis &
        ByEngine & {
          readonly generatedOutput: string;
          readonly verdict: Verdict;
          readonly grounds: VerdictGrounds;
          readonly kid?: string;
          readonly iss?: string;
          readonly asked?: AskedVerdict;
        };
    }
  | {
      type: 'VerdictRefused';
      data: OfTurn &
        DecisionBasis &
        ByEngine & {
          readonly generatedOutput: string;
          readonly verdict: Verdict;
          readonly grounds: VerdictGrounds;
          readonly asked?: AskedVerdict;
        };
    }
  /** The state change of a valid verdict, a merge patch (RFC 7396) of the mind's data. */
  | { type: 'StateChanged'; data: OfTurn & { readonly patch: JsonObject } }
  | {
      type: 'MemoryStored';
      data: Partial<OfTurn> & {
        readonly memoryId: string;
        readonly text: string;
        readonly type: string;
        readonly importance: number;
        /** Of an agent's client, kept as it came (contract 3.5). */
        readonly metadata?: JsonObject;
      };
    }
  /** A body keeps this memory as well (contract 3.2). */
  | { type: 'MemoryConfirmed'; data: { readonly memoryId: string } }
  | {
      /** What a body recalled by itself, and what it had asked for (contract 3.3). */
      type: 'RecallReported';
      data: {
        readonly query: string;
        readonly similarity?: number;
        readonly limit?: number;
        readonly type?: string;
        readonly minImportance?: number;
        readonly memories: readonly RecalledMemory[];
      };
    }
  /** The memories stored before this event leave lists and recall (contract 3.4). */
  | { type: 'MemoriesCleared'; data: { readonly count: number } }
  | {
      /** An operator took these memories out of lists, recall, confirms and souls (contract 10.12). */
      type: 'MemoriesRetracted';
      data: {
        readonly memoryIds: readonly string[];
        readonly reason: string;
        /** Only when what was derived went with them: the ones that were named. */
        readonly roots?: readonly string[];
      };
    }
  | { type: 'TurnExpired'; data: OfTurn }
  | {
      type: 'TapeMismatchNoticed';
      data: OfTurn & {
        readonly round: number;
        readonly members: readonly { readonly member: string; readonly recorded: Json; readonly received: Json }[];
      };
    }
  | {
      type: 'DirectiveGiven';
      data: OfTurn &
        DecisionBasis &
        OnPatterns &
        RulesTrace & {
          readonly observation: string;
          readonly context: Json;
          readonly npcState: JsonObject;
          readonly ruleset: RulesetRef | null;
          readonly memoryRecall: { readonly query: string; readonly limit: number; readonly threshold: number };
        };
    }
  | {
      type: 'ContextBuilt';
      data: OfTurn &
        DecisionBasis &
        OnPatterns &
        RulesTrace & {
          readonly observation: string;
          readonly npcState: JsonObject;
          readonly persona?: string;
          readonly memories: readonly RecalledMemory[];
          readonly ruleset: RulesetRef | null;
          readonly prompt: string;
          readonly constraints: JsonObject;
          readonly ctxMessages: readonly { readonly role: string; readonly content: string }[] | null;
        };
    }
  | {
      type: 'BridgeChecked';
      data: DecisionBasis &
        OnPatterns & {
          readonly action: Json;
          readonly context: Json;
          readonly ruleset: RulesetRef | null;
          readonly valid: boolean;
          readonly reason: string | null;
          readonly correctedAction: Action | null;
          readonly code: string | null;
          readonly details: JsonObject;
        };
    }
  /** The mind is to leave as a soul (contract 8.1): what its document is made from, besides the events up to this one. */
  | {
      type: 'SoulExportRequested';
      data: OfSoul & {
        readonly npcState: JsonObject;
        /** Counts where none is recorded. */
        readonly persona?: string;
        readonly includeMemories: boolean;
        /** What the soul leaves out (contract 8.10); absent: nothing. */
        readonly without?: readonly LeftOut[];
        /** Who brings the soul to an archive: a client, in a second phase, or this server at once. */
        readonly uploadedBy: 'client' | 'server';
        /** Where this server keeps it and in which format; without them in its own archive, as JSON. */
        readonly storage?: 'ipfs';
        readonly format?: 'binary';
        readonly deadlineAt: string;
      };
    }
  /** The document was made and signed; it is kept under its digest (contract 8.7). */
  | {
      type: 'SoulSealed';
      data: OfSoul & {
        /** What lists call it (contract 8.7). */
        readonly name: string;
        readonly digest: string;
        readonly root: string;
        readonly kid: string;
        /** The revision of the mind that the soul knows last. */
        readonly mindRevision: number;
        readonly memories: number;
        /** Of the document's JCS form. */
        readonly bytes: number;
        /** That of the document, so that an answer can name it without reading the document; absent from the oldest events. */
        readonly signature?: string;
      };
    }
  /** An archive has the soul: the mind has left a copy of itself. `url` is where it can be read. */
  | { type: 'SoulExported'; data: OfSoul & { readonly txId: string; readonly url: string } }
  | {
      type: 'SoulExportFailed';
      data: OfSoul & { readonly code: string; readonly reason: string; readonly details?: JsonObject };
    }
  | { type: 'SoulExportExpired'; data: OfSoul }
  /** A soul begins to arrive: what comes after this counts only once `SoulArrived` stands (contract 8.4). Always the stream's first event. */
  | {
      type: 'SoulArrivalBegun';
      data: OfSoul & { readonly importId: string; readonly memories: number };
    }
  /** A memory that a soul brought, as it was where it was stored. */
  | {
      type: 'MemoryArrived';
      data: {
        readonly memoryId: string;
        readonly text: string;
        readonly type: string;
        readonly importance: number;
        readonly metadata?: JsonObject;
        readonly storedAt: string;
        readonly confirmed: boolean;
        readonly source: MemorySource;
      };
    }
  /** The whole soul is here: the mind begins with what it brought. */
  | { type: 'SoulArrived'; data: ArrivedSoul }
  | {
      /** An operator looked at a break in this stream's hash chain and acknowledged it. `stored` and `computed` are explained in docs/hash-chain.md. */
      type: 'ChainBreakRecorded';
      data: {
        /** Of the event that does not fit. */
        readonly revision: number;
        readonly member: 'prevHash' | 'hash';
        readonly stored: string;
        readonly computed: string;
      };
    };

/** The inputs of a verdict that was asked for outside a process turn. */
export type AskedVerdict = OnPatterns & {
  readonly observation: string;
  readonly npcState: JsonObject;
  readonly ruleset: RulesetRef | null;
};

export type NpcEventType = NpcEvent['type'];
/** What a decider emits; the lane makes an event from it. */
export type NpcDraft = NpcEvent;
