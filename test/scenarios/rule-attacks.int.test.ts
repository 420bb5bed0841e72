import { openEmbeddedServer } from '../support/embedded-server.js';
import { ruleAttackScenarios } from './rule-attacks.js';

ruleAttackScenarios('embedded', openEmbeddedServer);
