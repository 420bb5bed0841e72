import { openEmbeddedServer } from '../support/embedded-server.js';
import { agentKillScenarios } from './agent-kills.js';
import { proofKillScenarios } from './proofs.js';

agentKillScenarios('embedded', openEmbeddedServer);
proofKillScenarios('embedded', openEmbeddedServer);
