import { openEmbeddedServer } from '../support/embedded-server.js';
import { mainJobScenarios } from './main-job.js';
import { manyAtOnceScenarios } from './many-at-once.js';
import { refusalScenarios } from './refusals.js';

mainJobScenarios('embedded', openEmbeddedServer);
refusalScenarios('embedded', openEmbeddedServer);
manyAtOnceScenarios('embedded', async () => {
  const server = await openEmbeddedServer({ ANIMA_RATE_LIMIT: 'off' });
  return {
    urls: [server.url],
    ownerKey: server.ownerKey,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
});
