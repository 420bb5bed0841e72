import { openDistributedServer } from '../support/distributed-server.js';
import { cardScenarios } from './cards.js';
import { ghostEngineScenarios } from './ghost-engines.js';
import { ghostScenarios } from './ghosts.js';
import { cortexScenarios } from './cortex.js';
import { levelScenarios } from './levels.js';
import { soulImportScenarios } from './soul-imports.js';
import { soulsElsewhereScenarios } from './souls-elsewhere.js';
import { soulScenarios } from './souls.js';

cortexScenarios('distributed', openDistributedServer);
soulScenarios('distributed', openDistributedServer);
soulImportScenarios('distributed', openDistributedServer);
cardScenarios('distributed', openDistributedServer);
ghostScenarios('distributed', openDistributedServer);
ghostEngineScenarios('distributed', openDistributedServer);
levelScenarios('distributed', openDistributedServer);
soulsElsewhereScenarios('distributed', openDistributedServer);
