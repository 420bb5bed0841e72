import { requireUnplayed } from '../features/ghosts/ghost-room.js';
import { type ApiKeyDeps, ownsServer } from '../features/keys/api-keys.js';
import type { ChangeSigningKeysDeps } from '../features/keys/change-signing-keys.js';
import { mayUpload } from '../features/souls/export-soul.js';
import type { RouteDefinition } from '../kernel/http/route.js';
import type { Services } from './services.js';
import { actRoutes } from '../features/turns/http/acts.js';
import { engineTestRoute } from '../features/agents/http/engine-test.js';
import { promptRoute } from '../features/agents/http/prompt.js';
import { agentRoutes } from '../features/agents/http/routes.js';
import { archiveRoutes } from '../features/souls/http/archive.js';
import { auditRoutes, historyBundleRoute } from '../features/proofs/http/routes.js';
import { bridgeRoutes } from '../features/turns/http/bridge.js';
import { cardRoutes } from '../features/cards/http/routes.js';
import { changesRoute } from '../features/npcs/http/changes.js';
import { chainBreakRoutes } from '../features/npcs/http/chain-breaks.js';
import { cortexRoutes } from '../features/engines/http/routes.js';
import { eventRoutes } from '../features/npcs/http/events.js';
import { factsRoutes } from '../features/npcs/http/facts.js';
import { ghostFindingRoutes } from '../features/ghosts/http/findings.js';
import { ghostRunRoutes } from '../features/ghosts/http/runs.js';
import { ghostStepRoute } from '../features/ghosts/http/process.js';
import { ghostRoutes } from '../features/ghosts/http/sessions.js';
import { historyExportRoutes, historyRoutes } from '../features/npcs/http/histories.js';
import { jwksRoute, verdictRoutes } from '../features/turns/http/verdicts.js';
import { accessRoute } from '../features/keys/http/access.js';
import { keyRoutes } from '../features/keys/http/routes.js';
import { levelRoutes } from '../features/levels/http/routes.js';
import { memoryRoutes, memoryWriteRoutes } from '../features/memory/http/routes.js';
import { npcRoutes } from '../features/npcs/http/routes.js';
import { playerTokenRoute } from '../features/keys/http/player-tokens.js';
import { playersRoute } from '../features/turns/http/players.js';
import { processRoute } from '../features/turns/http/process.js';
import { recallRoutes } from '../features/memory/http/recall.js';
import { replayRoutes } from '../features/replays/http/routes.js';
import { ruleRoutes } from '../features/rules/http/routes.js';
import { ruleTestRoute } from '../features/turns/http/rule-tests.js';
import { activityRoutes } from '../features/search/http/activity.js';
import { searchRoute } from '../features/search/http/routes.js';
import { signingKeyRoutes } from '../features/keys/http/signing-keys.js';
import { soulRoutes } from '../features/souls/http/routes.js';
import { openTurnsRoute, turnRoutes, whyRoute } from '../features/turns/http/routes.js';
import { coverageRoutes } from '../features/replays/http/coverage.js';
import { retractionsRoute } from '../features/memory/http/retractions.js';
import { lineageRoutes } from '../features/memory/http/lineage.js';

/** All routes that need the ports. The routes of the server itself (status, health, documents) are separate. */
export const allRoutes = (
  services: Services,
  apiKeys: ApiKeyDeps,
  signingKeyChanges: ChangeSigningKeysDeps,
): readonly RouteDefinition[] => [
  ...npcRoutes(services),
  ...factsRoutes(services),
  processRoute(services),
  ghostStepRoute(services),
  ...actRoutes(services),
  ...memoryRoutes(services),
  ...memoryWriteRoutes(services),
  ...recallRoutes(services),
  ...agentRoutes(services),
  promptRoute(services),
  engineTestRoute(services),
  ...soulRoutes(services),
  ...cardRoutes(services),
  ...bridgeRoutes(services),
  ...ruleRoutes(services),
  ruleTestRoute(services),
  ...levelRoutes({ ...services, requireUnplayed: (...of) => requireUnplayed(services.ports.readModels, ...of) }),
  ...ghostRunRoutes(services),
  ...ghostRoutes(services),
  ...ghostFindingRoutes(services),
  ...verdictRoutes(services.signer),
  jwksRoute(services.signingKeys),
  ...archiveRoutes({ ...services, mayUpload: (grant) => mayUpload(services, grant) }),
  ...historyRoutes(services),
  changesRoute(services),
  ...historyExportRoutes(services),
  historyBundleRoute(services),
  ...chainBreakRoutes(services),
  ...auditRoutes(services),
  ...turnRoutes(services),
  openTurnsRoute(services),
  playersRoute(services),
  ...lineageRoutes(services),
  retractionsRoute(services),
  ...coverageRoutes(services),
  searchRoute(services),
  ...activityRoutes(services),
  whyRoute({ ...services, events: services.ports.events }),
  ...replayRoutes(services),
  ...eventRoutes({ ...services, onRevoked: (keyId, listener) => apiKeys.directory.onRevoked(keyId, listener) }),
  ...cortexRoutes(services, apiKeys),
  ...keyRoutes(apiKeys),
  ...signingKeyRoutes(signingKeyChanges, (principal) => ownsServer(apiKeys.directory, principal)),
  accessRoute(services.ports),
  playerTokenRoute(services.playerTokens),
];
