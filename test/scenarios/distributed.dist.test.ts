import { openDistributedServer, openNamespace } from '../support/distributed-server.js';
import { agentKillScenarios } from './agent-kills.js';
import { agentScenarios } from './agents.js';
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
import { recallScenarios } from './recall.js';
import { refusalScenarios } from './refusals.js';
import { soulImportScenarios } from './soul-imports.js';
import { soulsElsewhereScenarios } from './souls-elsewhere.js';
import { soulScenarios } from './souls.js';

mainJobScenarios('distributed', openDistributedServer);
refusalScenarios('distributed', openDistributedServer);
memoryScenarios('distributed', openDistributedServer);
recallScenarios('distributed', openDistributedServer);
agentScenarios('distributed', openDistributedServer);
agentKillScenarios('distributed', openDistributedServer);
cortexScenarios('distributed', openDistributedServer);
soulScenarios('distributed', openDistributedServer);
soulImportScenarios('distributed', openDistributedServer);
cardScenarios('distributed', openDistributedServer);
ghostScenarios('distributed', openDistributedServer);
ghostEngineScenarios('distributed', openDistributedServer);
ghostBodyScenarios('distributed', openDistributedServer);
levelScenarios('distributed', openDistributedServer);
historyScenarios('distributed', openDistributedServer);
soulsElsewhereScenarios('distributed', openDistributedServer);
injectionScenarios('distributed', openDistributedServer);
for (const processes of [1, 2]) {
  manyAtOnceScenarios(`distributed, processes with every role: ${processes}`, async () => {
    const namespace = await openNamespace();
    const running = await Promise.all(Array.from({ length: processes }, () => namespace.start('')));
    return {
      urls: running.map(({ url }) => url),
      ownerKey: namespace.ownerKey,
      [Symbol.asyncDispose]: () => namespace[Symbol.asyncDispose](),
    };
  });
}
