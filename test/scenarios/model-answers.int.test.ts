import { openEmbeddedServer } from '../support/embedded-server.js';
import { modelAnswerScenarios } from './model-answers.js';

modelAnswerScenarios('embedded', openEmbeddedServer);
