import { openEmbeddedServer } from '../support/embedded-server.js';
import { ghostBodyScenarios } from './ghost-bodies.js';
import { ghostEngineScenarios } from './ghost-engines.js';
import { ghostScenarios } from './ghosts.js';
import { levelScenarios } from './levels.js';
import { sharedServer } from './shared-server.js';

const open = sharedServer(openEmbeddedServer);

ghostScenarios('embedded', open);
ghostEngineScenarios('embedded', open);
ghostBodyScenarios('embedded', open);
levelScenarios('embedded', open);
