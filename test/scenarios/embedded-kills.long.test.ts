import { openEmbeddedServer } from '../support/embedded-server.js';
import { agentKillScenarios } from './agent-kills.js';
import { ghostBodyKillScenarios } from './ghost-bodies.js';
import { ghostEngineKillScenarios } from './ghost-engines.js';
import { ghostKillScenarios } from './ghosts.js';
import { proofKillScenarios } from './proofs.js';
import { soulImportKillScenarios } from './soul-imports.js';
import { soulKillScenarios } from './souls.js';

agentKillScenarios('embedded', openEmbeddedServer);
proofKillScenarios('embedded', openEmbeddedServer);
ghostKillScenarios('embedded', openEmbeddedServer);
ghostEngineKillScenarios('embedded', openEmbeddedServer);
ghostBodyKillScenarios('embedded', openEmbeddedServer);
soulKillScenarios('embedded', openEmbeddedServer);
soulImportKillScenarios('embedded', openEmbeddedServer);
