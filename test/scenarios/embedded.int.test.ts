import { openEmbeddedServer } from '../support/embedded-server.js';
import { agentKillScenarios } from './agent-kills.js';
import { agentScenarios } from './agents.js';
import { asOfScenarios } from './as-of.js';
import { cardScenarios } from './cards.js';
import { ghostBodyScenarios } from './ghost-bodies.js';
import { ghostEngineScenarios } from './ghost-engines.js';
import { ghostScenarios } from './ghosts.js';
import { cortexScenarios } from './cortex.js';
import { historyScenarios } from './histories.js';
import { injectionScenarios } from './injections.js';
import { levelScenarios } from './levels.js';
import { mainJobScenarios } from './main-job.js';
import { manyAtOnceScenarios } from './many-at-once.js';
import { memoryScenarios } from './memory.js';
import { proofKillScenarios, proofScenarios } from './proofs.js';
import { recallScenarios } from './recall.js';
import { refusalScenarios } from './refusals.js';
import { replayScenarios } from './replays.js';
import { retractionScenarios } from './retractions.js';
import { searchScenarios } from './searches.js';
import { soulImportScenarios } from './soul-imports.js';
import { soulsElsewhereScenarios } from './souls-elsewhere.js';
import { soulScenarios } from './souls.js';

mainJobScenarios('embedded', openEmbeddedServer);
refusalScenarios('embedded', openEmbeddedServer);
memoryScenarios('embedded', openEmbeddedServer);
recallScenarios('embedded', openEmbeddedServer);
retractionScenarios('embedded', openEmbeddedServer);
agentScenarios('embedded', openEmbeddedServer);
agentKillScenarios('embedded', openEmbeddedServer);
cortexScenarios('embedded', openEmbeddedServer);
soulScenarios('embedded', openEmbeddedServer);
soulImportScenarios('embedded', openEmbeddedServer);
cardScenarios('embedded', openEmbeddedServer);
ghostScenarios('embedded', openEmbeddedServer);
ghostEngineScenarios('embedded', openEmbeddedServer);
ghostBodyScenarios('embedded', openEmbeddedServer);
levelScenarios('embedded', openEmbeddedServer);
historyScenarios('embedded', openEmbeddedServer);
replayScenarios('embedded', openEmbeddedServer);
searchScenarios('embedded', openEmbeddedServer);
asOfScenarios('embedded', openEmbeddedServer, 12);
proofScenarios('embedded', openEmbeddedServer);
proofKillScenarios('embedded', openEmbeddedServer);
soulsElsewhereScenarios('embedded', openEmbeddedServer);
injectionScenarios('embedded', openEmbeddedServer);
manyAtOnceScenarios('embedded', async () => {
  const server = await openEmbeddedServer({ ANIMA_RATE_LIMIT: 'off' });
  return {
    urls: [server.url],
    ownerKey: server.ownerKey,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
});
