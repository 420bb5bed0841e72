import { openEmbeddedServer } from '../support/embedded-server.js';
import { agentScenarios } from './agents.js';
import { droppedAnswerScenarios } from './dropped-answers.js';
import { asOfScenarios } from './as-of.js';
import { bindingScenarios } from './bindings.js';
import { cortexScenarios } from './cortex.js';
import { historyScenarios } from './histories.js';
import { injectionScenarios } from './injections.js';
import { mainJobScenarios } from './main-job.js';
import { manyAtOnceScenarios } from './many-at-once.js';
import { memoryScenarios } from './memory.js';
import { npcPatchScenarios } from './npc-patches.js';
import { recallScenarios } from './recall.js';
import { refusalScenarios } from './refusals.js';
import { searchScenarios } from './searches.js';
import { sharedServer } from './shared-server.js';
import { strictRuleScenarios } from './strict-rules.js';

const open = sharedServer(openEmbeddedServer);

mainJobScenarios('embedded', open);
refusalScenarios('embedded', open);
droppedAnswerScenarios('embedded', open);
memoryScenarios('embedded', open);
recallScenarios('embedded', open);
agentScenarios('embedded', open);
cortexScenarios('embedded', open);
historyScenarios('embedded', open);
searchScenarios('embedded', open);
asOfScenarios('embedded', open, 12);
injectionScenarios('embedded', open);
bindingScenarios('embedded', openEmbeddedServer);
strictRuleScenarios('embedded', open);
npcPatchScenarios('embedded', open);
manyAtOnceScenarios('embedded', async () => {
  const server = await open();
  return { urls: [server.url], ownerKey: server.ownerKey, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
});
