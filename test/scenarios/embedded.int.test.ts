import { openEmbeddedServer } from '../support/embedded-server.js';
import { mainJobScenarios } from './main-job.js';
import { refusalScenarios } from './refusals.js';

mainJobScenarios('embedded', openEmbeddedServer);
refusalScenarios('embedded', openEmbeddedServer);
