import type { LiveTexts } from '../features/agents/live-texts.js';
import type { Recall } from '../features/memory/recall.js';
import type { Engines } from '../features/engines/engines.js';
import type { GhostEngines } from '../features/ghosts/call-engines.js';
import type { SharedPace } from '../features/ghosts/pace.js';
import type { SessionCache } from '../features/ghosts/play-slice.js';
import type { PlayCache } from '../features/ghosts/remote-steps.js';
import type { Levels } from '../features/levels/levels.js';
import type { UpgradeEnd } from '../features/proofs/from-before.js';
import type { EventChecks } from '../kernel/streams/event-checks.js';
import type { StreamWriters } from '../kernel/streams/stream-writers.js';
import type { OtherArchives } from '../features/souls/other-archives.js';
import type { SoulTrust } from '../features/souls/verify-soul.js';
import type { ProcessRepository } from '../kernel/processes/process-repository.js';
import type { Rulesets } from '../features/rules/rulesets.js';
import type { ConversationLimits } from '../features/turns/conversation.js';
import type { TurnIndex } from '../features/turns/turn-index.js';
import type { VerdictSigner } from '../features/turns/verdict-signer.js';
import type { Ports } from '../ports/ports.js';
import type { ProcessRuntime } from '../ports/process-runtime.js';
import type { PlayerTokens } from '../features/keys/player-tokens.js';
import type { CheckpointReceiver } from '../ports/checkpoint-receiver.js';
import type { SigningKeys } from '../ports/signing-keys.js';

/** The dependencies of the routes of minds and rules. */
export type Services = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly repository: ProcessRepository;
  readonly turnIndex: TurnIndex;
  readonly runtime: ProcessRuntime;
  readonly rulesets: Rulesets;
  readonly levels: Levels;
  /** The pace at which ghosts play in this process. */
  readonly ghostPace: SharedPace;
  /** The engines as ghosts use them. */
  readonly ghostEngines: GhostEngines;
  /** The sessions that have bodies elsewhere. */
  readonly ghostPlays: PlayCache;
  /** The progress of the sessions that this process plays or has reported. */
  readonly ghostSessions: SessionCache;
  readonly recall: Recall;
  /** Decides which stored events may be signed. */
  readonly checks: EventChecks;
  /** Up to where events of a tenant need no seal; null if the store has no events without one. */
  readonly upgradeEnd: ((tenant: string) => Promise<UpgradeEnd>) | null;
  readonly signingKeys: SigningKeys;
  readonly signer: VerdictSigner;
  readonly playerTokens: PlayerTokens;
  /** The language model backends. */
  readonly engines: Engines;
  /** What engines are writing in this process; null if other processes carry out turns too. */
  readonly liveTexts: LiveTexts | null;
  readonly archives: OtherArchives;
  /** Whose souls are accepted. */
  readonly soulTrust: SoulTrust;
  /** The external receiver of checkpoints, or null. */
  readonly checkpointReceiver: CheckpointReceiver | null;
  /** The `iss` claim of verdicts. */
  readonly publicUrl: string;
  readonly turnDeadlineMs: number;
  readonly rulesRegistration: boolean;
  /** How long a request waits for an agent's answer, in milliseconds. */
  readonly agentWaitMs: number;
  /** What a prompt shows of the conversation before it. */
  readonly conversation: ConversationLimits;
  /** The deadline between the two phases of a soul's export or import, in milliseconds. */
  readonly soulDeadlineMs: number;
};
