import { openEmbeddedServer } from '../support/embedded-server.js';
import { mainJobScenarios } from './main-job.js';

mainJobScenarios('embedded', openEmbeddedServer);
