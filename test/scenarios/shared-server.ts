import { afterAll } from 'vitest';

import type { OpenServer, ServerUnderTest } from './server-under-test.js';

/**
 * One server for all scenarios of a test file that need no special settings: starting one takes seconds. It closes after the last of them, with
 * the checks on closing. Scenarios with settings start separate servers.
 */
export const sharedServer = (open: OpenServer): OpenServer => {
  let opening: Promise<ServerUnderTest> | null = null;
  let halted = false;
  afterAll(async () => {
    await (await opening)?.[Symbol.asyncDispose]();
  });
  return async (env = {}) => {
    if (Object.keys(env).length > 0) return open(env);
    opening ??= open();
    const server = await opening;
    const restart: ServerUnderTest['restart'] = async (how) => {
      await server.restart(halted ? 'kill' : how);
      halted = false;
    };
    if (halted) await restart('kill');
    return {
      get url() {
        return server.url;
      },
      get output() {
        return server.output;
      },
      ownerKey: server.ownerKey,
      dataDir: server.dataDir,
      restart,
      halt: async () => {
        await server.halt();
        halted = true;
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  };
};
