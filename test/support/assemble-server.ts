import { EmbeddedProcessRuntime } from '../../src/adapters/embedded/process-runtime.js';
import { createScriptedEngine } from '../../src/adapters/cortex/scripted/engine.js';
import { createLiveTexts } from '../../src/features/agents/live-texts.js';
import { createEngineWaits } from '../../src/features/engines/engine-waits.js';
import { createEngines } from '../../src/features/engines/engines.js';
import type { ChangeSigningKeysDeps } from '../../src/features/keys/change-signing-keys.js';
import type { ApiKeyDeps } from '../../src/features/keys/api-keys.js';
import { createGhostEngines } from '../../src/features/ghosts/call-engines.js';
import { createPace } from '../../src/features/ghosts/pace.js';
import { createSessionCache } from '../../src/features/ghosts/play-slice.js';
import { createPlayCache } from '../../src/features/ghosts/remote-steps.js';
import { createRecall } from '../../src/features/memory/recall.js';
import { openRulesets } from '../../src/features/rules/rulesets.js';
import { type BuiltInLevel, openLevels } from '../../src/features/levels/levels.js';
import { ProcessRepository } from '../../src/kernel/processes/process-repository.js';
import { createHand, type SliceTask } from '../../src/features/replays/replay-part.js';
import type { EventChecks } from '../../src/kernel/streams/event-checks.js';
import type { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { study } from '../../src/features/ghosts/domain/study.js';
import type { Log } from '../../src/ports/log.js';
import type { Ports } from '../../src/ports/ports.js';
import type { ProcessRuntime } from '../../src/ports/process-runtime.js';
import type { SigningKeys } from '../../src/ports/signing-keys.js';
import { createPlayerTokens } from '../../src/features/keys/player-tokens.js';
import { httpRoutes } from '../../src/roles/http.js';
import { processesOf } from '../../src/server/processes.js';
import { noOtherArchives } from './souls.js';
import { CONVERSATION } from './minds.js';

const RECALL_CACHE_BYTES = 1024 * 1024;
const AGENT_WAIT_MS = 12_000;

export type AssemblyOptions = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly checks: EventChecks;
  readonly apiKeys: ApiKeyDeps;
  readonly signingKeys: SigningKeys;
  readonly signingKeyChanges: ChangeSigningKeysDeps;
  readonly levels: readonly BuiltInLevel[];
  /** Null drives processes in this server itself. */
  readonly runtime: ProcessRuntime | null;
  readonly publicUrl: string;
  /** Milliseconds, for turns and for the exchanges of souls. */
  readonly deadlineMs: number;
  readonly log: Log;
};

/** The product's own code between the HTTP application and the ports, as `startServer` assembles it, with every role. */
export const assembleServer = ({
  ports,
  writers,
  checks,
  signingKeys,
  signingKeyChanges,
  apiKeys,
  publicUrl,
  log,
  ...options
}: AssemblyOptions) => {
  const { clock, random, events } = ports;
  const { shared } = writers;
  const rulesets = openRulesets(writers, events);
  const repository = new ProcessRepository(events, { shared });
  const scripted = createScriptedEngine();
  const engines = createEngines([scripted], scripted, () => null);
  const recall = createRecall({ ...ports, writers }, RECALL_CACHE_BYTES);
  const levels = openLevels({ ...ports, writers, archive: ports.soulArchive, study }, options.levels);
  const ghosts = {
    ghostEngines: createGhostEngines({ engines, clock, texts: 1 }),
    ghostPace: createPace(clock, 1),
    ghostPlays: createPlayCache(),
    ghostSessions: createSessionCache(),
  };
  const deciding = {
    ports,
    writers,
    repository,
    rulesets,
    checks,
    upgradeEnd: null,
    signingKeys,
    recall,
    engines,
    liveTexts: createLiveTexts(clock),
    engineWaits: createEngineWaits(clock, 8),
    archives: noOtherArchives,
    levels,
    ...ghosts,
    checkpointReceiver: null,
  };
  const decideAgain = createHand({ events, clock, rulesOf: (...of) => rulesets.version(...of) });
  const replayHands = { begin: (slice: SliceTask) => [decideAgain(slice)] };
  const processes = processesOf({ ...deciding, issuer: publicUrl, replayHands, log });
  const stepDeps = { writers, repository, processes, clock };
  const runtime = options.runtime ?? new EmbeddedProcessRuntime({ ...stepDeps, events, random, logger: log });
  const config = {
    turnDeadlineMs: options.deadlineMs,
    soulDeadlineMs: options.deadlineMs,
    agentWaitMs: AGENT_WAIT_MS,
    conversation: CONVERSATION,
    rulesRegistration: true,
    archives: { soulTrust: null },
  };
  const { directory } = apiKeys;
  const playerTokens = createPlayerTokens({ signingKeys, directory, clock, issuer: publicUrl, rateLimit: null });
  const routes = httpRoutes({ ...deciding, runtime, publicUrl, config, apiKeys, signingKeyChanges, playerTokens });
  return { stepDeps, runtime, routes };
};
