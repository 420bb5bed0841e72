import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Namespace, openNamespace, type ServingProcess } from '../support/distributed-server.js';
import { createLoad, type Load } from '../support/load.js';

/** Processes that join while others leave, and responses to the load between two of them. */
const JOINING = 4;
const ANSWERS = 20;

describe('processes that come and go under load', () => {
  let namespace: Namespace;
  let http: ServingProcess;
  let load: Load;

  beforeAll(async () => {
    namespace = await openNamespace();
    [http] = await Promise.all([namespace.start('http'), namespace.start('worker')]);
    load = createLoad(namespace);
  });
  afterAll(async () => {
    await namespace[Symbol.asyncDispose]();
  });

  it.each(['projector', 'relay'])(
    'of the roles %s, killed or stopped in order, leave read models that equal a rebuild',
    async (roles) => {
      const started: ServingProcess[] = [];
      const staying = await namespace.start('projector,relay');
      await load.run([http.url], async (answers) => {
        let before: ServingProcess | null = null;
        for (let joining = 0; joining < JOINING; joining += 1) {
          const joined = await namespace.start(roles);
          await answers(ANSWERS);
          if (joining % 2 === 0) await before?.child.kill();
          else {
            before?.child.signal('SIGTERM');
            if (before !== null) expect((await before.child.exited()).code).toBe(0);
          }
          before = joined;
        }
        await before?.child.kill();
        await staying.child.kill();
        started.push(await namespace.start('projector,relay'));
      });
      for (const { child } of started) await child.kill();
    },
    180_000,
  );
});
