/**
 * The protocol between a body (a game backend) and its mind, as types. The body depends on nothing except `fetch`:
 * this folder can be copied into a game backend unchanged.
 */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonMembers;
export type JsonMembers = { readonly [member: string]: JsonValue };

export type NpcActor = { readonly npcId: string; readonly persona: string | null; readonly data: JsonMembers };

/** A memory as the body's own vector memory found it; `similarity` is 0..1, `importance` 0..1. */
export type FoundMemory = {
  readonly text: string;
  readonly type: string;
  readonly importance: number;
  readonly similarity: number;
};

/** A memory that the mind instructs the body to store. */
export type MemoryToStore = { readonly text: string; readonly type: string; readonly importance: number };

export type NpcAction = {
  readonly type: string;
  readonly target?: string;
  readonly reason?: string;
  readonly confidence?: number;
  readonly payload?: JsonValue;
  readonly signature?: string;
};

/** The state of a turn that travels with every request. The mind preserves members that are not named here. */
export type Tape = {
  readonly observation: string;
  readonly context?: JsonValue;
  readonly npcState?: JsonMembers;
  readonly persona?: string | null;
  readonly actor?: NpcActor;
  readonly memories?: readonly FoundMemory[];
  readonly prompt?: string;
  readonly constraints?: JsonMembers;
  readonly generatedOutput?: string;
  readonly rulesetId?: string | null;
  readonly vectorQueried?: boolean;
  readonly turnId?: string;
};

export type IdentifyActor = { readonly type: 'IdentifyActor' };
export type QueryVector = {
  readonly type: 'QueryVector';
  readonly query: string;
  readonly limit: number;
  readonly threshold: number;
};
export type ExecuteInference = {
  readonly type: 'ExecuteInference';
  readonly prompt: string;
  readonly constraints: JsonMembers;
};
/** The end of a turn. With `valid: false` the `dialogue` is the reason, and `code` and `refusedAction` show what was refused. */
export type Finalize = {
  readonly type: 'Finalize';
  readonly valid: boolean;
  readonly signature: string | null;
  readonly memoryStore: readonly MemoryToStore[];
  readonly stateTransform: JsonMembers;
  readonly action: NpcAction | null;
  readonly dialogue: string;
  readonly refusedAction?: NpcAction | null;
  readonly code?: string;
  readonly details?: JsonMembers;
};
export type MindInstruction = IdentifyActor | QueryVector | ExecuteInference | Finalize;

export type StepResult =
  | { readonly type: 'IdentifyActorResult'; readonly actor: NpcActor }
  | { readonly type: 'QueryVectorResult'; readonly memories: readonly FoundMemory[] }
  | { readonly type: 'ExecuteInferenceResult'; readonly generatedOutput: string };

export type StepRequest = { readonly tape: Tape; readonly lastResult?: StepResult | null };
export type StepAnswer = { readonly instruction: MindInstruction; readonly tape: Tape };

export type Npc = {
  readonly npcId: string;
  readonly persona: string | null;
  readonly data: JsonMembers | null;
  readonly revision: number;
  readonly updatedAt: string;
};

export type DirectiveRequest = {
  readonly observation?: string;
  readonly npcState?: JsonMembers;
  readonly context?: JsonValue;
  readonly rulesetId?: string | null;
};
export type DirectiveAnswer = {
  readonly memoryRecall: { readonly query: string; readonly limit: number; readonly threshold: number };
};

export type ContextRequest = {
  readonly memories?: readonly FoundMemory[];
  readonly observation?: string;
  readonly npcState?: JsonMembers;
  readonly persona?: string;
  readonly rulesetId?: string | null;
};
export type ChatMessage = { readonly role: string; readonly content: string };
export type ContextAnswer = {
  readonly prompt: string;
  readonly constraints: JsonMembers;
  readonly ctxMessages: readonly ChatMessage[] | null;
};

export type VerdictRequest = {
  readonly generatedOutput: string;
  readonly observation?: string;
  readonly npcState?: JsonMembers;
  readonly rulesetId?: string | null;
};
export type VerdictAnswer = {
  readonly valid: boolean;
  readonly dialogue: string;
  readonly action: NpcAction | null;
  readonly signature: string | null;
  readonly memoryStore: readonly MemoryToStore[];
  readonly stateDelta: JsonMembers;
  readonly turnId?: string;
  readonly refusedAction?: NpcAction | null;
  readonly code?: string;
};

/** A rule as it is registered; the server supplies defaults for absent members. */
export type RuleToRegister = {
  readonly drRuleId?: string;
  readonly ruleName?: string;
  readonly ruleCondition?: readonly (readonly [key: string, value: string])[];
  readonly ruleAction?: string;
  readonly ruleReason?: string;
  readonly ruleTarget?: string | null;
  readonly rulePriority?: number;
  readonly ruleObsPattern?: string | null;
  readonly rulePromptSuffix?: string | null;
};
export type RulesetToRegister = {
  readonly rulesetId?: string;
  readonly rulesetRules?: readonly RuleToRegister[];
  readonly template?: 'Raw' | 'ChatML' | 'Llama3' | 'Alpaca' | null;
  /** How conditions and actions are read; 2 by default. */
  readonly grammar?: 1 | 2 | null;
};
export type RegisteredRuleset = {
  readonly rulesetId: string;
  readonly rulesetRules: readonly RuleToRegister[];
  readonly template: string | null;
  readonly grammar: 1 | 2;
  readonly version: number;
};

export type HistoryEvent = {
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly actor: string;
  readonly turnId?: string;
  readonly data: JsonMembers;
  readonly hash: string;
  readonly prevHash: string;
  /** Whether the store holds something else than was recorded. */
  readonly broken?: true;
};
export type HistoryQuery = {
  readonly from?: number;
  readonly limit?: number;
  readonly direction?: 'forwards' | 'backwards';
  readonly type?: string;
};
export type HistoryPage = {
  readonly npcId: string;
  readonly revision: number;
  readonly next?: number;
  readonly events: readonly HistoryEvent[];
};

export type TurnRound = {
  readonly round: number;
  readonly revision: number;
  readonly at: string;
  readonly result: StepResult | null;
  readonly instruction: MindInstruction;
};
/** A turn as it was recorded. `verdict` is free-form here, because newer servers may add members to the protocol's. */
export type TurnRecord = {
  readonly turnId: string;
  readonly npcId: string;
  readonly kind: string;
  readonly state: string;
  readonly openedAt: string;
  readonly deadlineAt: string;
  readonly endedAt?: string;
  readonly ruleset: { readonly rulesetId: string; readonly version: number } | null;
  readonly rounds: readonly TurnRound[];
  readonly verdict: JsonMembers | null;
};
/** A turn as a list shows it. */
export type TurnSummary = Omit<TurnRecord, 'rounds' | 'verdict'>;
/** A player whom an NPC knows. */
export type KnownPlayer = {
  readonly id: string;
  readonly name?: string;
  readonly from: string;
  readonly since: string;
  readonly lastAt: string;
  readonly turns: number;
  readonly standing: unknown;
};
/** A memory as the server lists it. */
export type MemoryRecord = {
  readonly memoryId: string;
  readonly text: string;
  readonly type: string;
  readonly importance: number;
  readonly similarity: number;
  readonly createdAt: string;
  readonly confirmed: boolean;
  /** Who told it, if the request named a player. */
  readonly player?: { readonly id: string; readonly name?: string };
  readonly cause: { readonly turnId: string | null; readonly eventId: string; readonly revision: number };
};

/** The result of a search. */
export type SearchHit = {
  readonly npcId: string;
  readonly turnId: string | null;
  readonly revision: number;
  readonly at: string;
  readonly kind: 'heard' | 'said' | 'did' | 'memory';
  readonly by: string | null;
  readonly to: string | null;
  readonly text: string;
  readonly snippet: string;
  readonly player?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly drRuleId?: string;
  readonly refused?: true;
  readonly code?: string;
  readonly memoryId?: string;
  readonly retracted?: true;
};
export type SearchPage = { readonly hits: readonly SearchHit[]; readonly next?: string };

/** The progress of a ghost session. */
export type GhostStatus = {
  readonly ghostSessionId: string;
  readonly ghostStatus: 'pending' | 'running' | 'completed' | 'failed' | 'stopped';
  readonly ghostGoal: string;
  readonly ghostLevel: { readonly levelId: string; readonly version: number | null; readonly generated: boolean };
  readonly ghostStep: number;
  readonly ghostSteps: number;
  readonly ghostDriver: 'local' | 'remote';
};
/** A step of a ghost session: `action` is what the mind allowed, `turns` what that was based on. */
export type GhostStep = {
  readonly step: number;
  readonly action: NpcAction | null;
  readonly turns: readonly {
    readonly npcId: string;
    readonly events: readonly { readonly type: string; readonly data: JsonMembers }[];
  }[];
};
export type GhostStepsPage = {
  readonly sessionId: string;
  readonly next?: number;
  readonly steps: readonly GhostStep[];
};
/** The results of a ghost session. */
export type GhostResults = {
  readonly resultsPassed: number;
  readonly resultsFailed: number;
  readonly resultsSkipped: number;
  readonly resultsCoverage: number;
  readonly resultsTests: readonly {
    readonly testName: string;
    readonly testPassed: boolean;
    readonly testSkipped?: true;
    readonly testError: string | null;
  }[];
  readonly resultsFindings: readonly {
    readonly n: number;
    readonly kind: string;
    readonly subject: string;
    readonly detail: string;
    readonly count: number;
  }[];
  readonly resultsStatus: string;
  readonly resultsErrors: readonly string[];
  readonly resultsPartial?: true;
};
/** A game's report about its world, sent as `ghost` in the `context` of a ghost's turn. */
export type GhostContext = {
  readonly position?: { readonly x: number; readonly y: number };
  /** The outcome of the previous step's action. */
  readonly outcome?: { readonly ok: boolean; readonly code?: string; readonly reason?: string };
  /** All goals reached so far, by their names. */
  readonly reached?: readonly string[];
  /** The turn is the session's last. */
  readonly done?: boolean;
};
