import { openDistributedServer, openNamespace } from '../support/distributed-server.js';
import { agentKillScenarios } from './agent-kills.js';
import { agentScenarios } from './agents.js';
import { playerScenarios } from './players.js';
import { playerTokenScenarios } from './player-tokens.js';
import { bindingScenarios } from './bindings.js';
import { droppedAnswerScenarios } from './dropped-answers.js';
import { factsScenarios } from './facts.js';
import { ghostBodyKillScenarios, ghostBodyScenarios } from './ghost-bodies.js';
import { historyScenarios } from './histories.js';
import { injectionScenarios } from './injections.js';
import { mainJobScenarios } from './main-job.js';
import { manyAtOnceScenarios } from './many-at-once.js';
import { memoryScenarios } from './memory.js';
import { npcPatchScenarios } from './npc-patches.js';
import { recallScenarios } from './recall.js';
import { refusalScenarios } from './refusals.js';
import { modelAnswerScenarios } from './model-answers.js';
import { ruleAttackScenarios } from './rule-attacks.js';
import { strictRuleScenarios } from './strict-rules.js';

mainJobScenarios('distributed', openDistributedServer);
refusalScenarios('distributed', openDistributedServer);
droppedAnswerScenarios('distributed', openDistributedServer);
memoryScenarios('distributed', openDistributedServer);
recallScenarios('distributed', openDistributedServer);
agentScenarios('distributed', openDistributedServer);
playerScenarios('distributed', openDistributedServer);
playerTokenScenarios('distributed', openDistributedServer);
// A restart takes many seconds here; the embedded profile tries more moments.
agentKillScenarios('distributed', openDistributedServer, [3]);
ghostBodyScenarios('distributed', openDistributedServer);
ghostBodyKillScenarios('distributed', openDistributedServer);
historyScenarios('distributed', openDistributedServer);
injectionScenarios('distributed', openDistributedServer);
bindingScenarios('distributed', openDistributedServer);
strictRuleScenarios('distributed', openDistributedServer);
ruleAttackScenarios('distributed', openDistributedServer, 25);
modelAnswerScenarios('distributed', openDistributedServer);
npcPatchScenarios('distributed', openDistributedServer);
factsScenarios('distributed', openDistributedServer);
for (const processes of [1, 2]) {
  manyAtOnceScenarios(`distributed, processes with every role: ${processes}`, async () => {
    const namespace = await openNamespace();
    const running = await Promise.all(Array.from({ length: processes }, () => namespace.start('')));
    return {
      urls: running.map(({ url }) => url),
      ownerKey: namespace.ownerKey,
      [Symbol.asyncDispose]: () => namespace[Symbol.asyncDispose](),
    };
  });
}
