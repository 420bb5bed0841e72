import { openDistributedServer } from '../support/distributed-server.js';
import { mainJobScenarios } from './main-job.js';
import { refusalScenarios } from './refusals.js';

mainJobScenarios('distributed', openDistributedServer);
refusalScenarios('distributed', openDistributedServer);
