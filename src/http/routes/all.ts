import { requireUnplayed } from '../../app/ghosts/ghost-room.js';
import type { ApiKeyDeps } from '../../app/keys/api-keys.js';
import { mayUpload } from '../../app/souls/export-soul.js';
import type { RouteDefinition } from '../route.js';
import type { Services } from '../services.js';
import { actRoutes } from './acts.js';
import { agentRoutes } from './agents.js';
import { archiveRoutes } from './archive.js';
import { auditRoutes, historyBundleRoute } from './audit.js';
import { bridgeRoutes } from './bridge.js';
import { cardRoutes } from './cards.js';
import { chainBreakRoutes } from './chain-breaks.js';
import { cortexRoutes } from './cortex.js';
import { eventRoutes } from './events.js';
import { ghostFindingRoutes } from './ghost-findings.js';
import { ghostRunRoutes } from './ghost-runs.js';
import { ghostStepRoute } from './ghost-step.js';
import { ghostRoutes } from './ghosts.js';
import { historyExportRoutes, historyRoutes } from './histories.js';
import { jwksRoute, verdictRoutes } from './verdicts.js';
import { keyRoutes } from './keys.js';
import { levelRoutes } from './levels.js';
import { memoryRoutes, memoryWriteRoutes } from './memory.js';
import { npcRoutes } from './npcs.js';
import { processRoute } from './process/routes.js';
import { recallRoutes } from './recall.js';
import { replayRoutes } from './replays.js';
import { ruleRoutes } from './rules.js';
import { searchRoute } from './search.js';
import { soulRoutes } from './souls/routes.js';
import { turnRoutes, whyRoute } from './turns.js';
import { coverageRoutes } from './coverage.js';
import { lineageRoutes } from './lineage.js';

/** Every route that needs the ports. The server's own routes (status, health, documents) are separate. */
export const allRoutes = (services: Services, apiKeys: ApiKeyDeps): readonly RouteDefinition[] => [
  ...npcRoutes(services),
  processRoute(services),
  ghostStepRoute(services),
  ...actRoutes(services),
  ...memoryRoutes(services),
  ...memoryWriteRoutes(services),
  ...recallRoutes(services),
  ...agentRoutes(services),
  ...soulRoutes(services),
  ...cardRoutes(services),
  ...bridgeRoutes(services),
  ...ruleRoutes(services),
  ...levelRoutes({ ...services, requireUnplayed: (...of) => requireUnplayed(services.ports.readModels, ...of) }),
  ...ghostRunRoutes(services),
  ...ghostRoutes(services),
  ...ghostFindingRoutes(services),
  ...verdictRoutes(services.signer),
  jwksRoute(services.signingKeys),
  ...archiveRoutes({ ...services, mayUpload: (grant) => mayUpload(services, grant) }),
  ...historyRoutes(services),
  ...historyExportRoutes(services),
  historyBundleRoute(services),
  ...chainBreakRoutes(services),
  ...auditRoutes(services),
  ...turnRoutes(services),
  ...lineageRoutes(services),
  ...coverageRoutes(services),
  searchRoute(services),
  whyRoute({ ...services, events: services.ports.events }),
  ...replayRoutes(services),
  ...eventRoutes({ ...services, onRevoked: (keyId, listener) => apiKeys.directory.onRevoked(keyId, listener) }),
  ...cortexRoutes(services, apiKeys),
  ...keyRoutes(apiKeys),
];
