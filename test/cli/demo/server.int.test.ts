import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { openDataDirectory } from '../../../src/adapters/embedded/data-directory.js';
import { sleepFor } from '../../../src/body/deadline.js';
import { createMindRequest } from '../../../src/body/mind-request.js';
import { isServing, startDemoServer, type StartOptions } from '../../../src/cli/demo/server.js';
import { StartProblem } from '../../../src/kernel/base/start-problem.js';
import { built } from '../../support/built.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

/** Listens on PORT, not ready at first; ends in order on SIGTERM. */
const SERVES = `
import { createServer } from 'node:http';
let asked = 0;
createServer((request, response) => {
  asked += 1;
  response.writeHead(request.url === '/readyz' && asked < 3 ? 503 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ status: 'online', marked: process.env.MARK }));
}).listen(Number(process.env.PORT), process.env.HOST);
`;
/** Ends like a server that cannot start. */
const FAILS = `process.stderr.write('The secret cannot be read.\\n'); process.exitCode = 1;`;

const requestTo: StartOptions['requestTo'] = (baseUrl) => createMindRequest({ baseUrl });

const withProgram = async (
  text: string,
  use: (options: StartOptions) => Promise<void>,
  signal = new AbortController().signal,
): Promise<void> => {
  await using directory = await temporaryDirectory();
  const program = join(directory.path, 'program.mjs');
  await writeFile(program, text);
  await use({
    program: [program],
    env: { ...process.env, MARK: 'kept' },
    cwd: directory.path,
    lookedAt: 'http://127.0.0.1:8080',
    requestTo,
    sleep: sleepFor,
    signal,
  });
};

const lives = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the server that the demo starts', () => {
  it('is awaited until it is ready, has the environment of the demo, and is gone after a stop', () =>
    withProgram(SERVES, async (options) => {
      const server = await startDemoServer(options);
      const request = requestTo(server.url);
      expect(await isServing(request)).toBe(true);
      expect(await request('GET', '/status')).toMatchObject({ marked: 'kept' });
      expect(lives(server.pid)).toBe(true);
      await server.stop();
      expect(lives(server.pid)).toBe(false);
      expect(await isServing(request)).toBe(false);
    }));

  it("fails with that server's own message when it ends before it is ready", () =>
    withProgram(FAILS, async (options) => {
      const outcome = await startDemoServer(options).catch((error: unknown) => error);
      expect(outcome).toBeInstanceOf(StartProblem);
      expect((outcome as StartProblem).message).toBe('The secret cannot be read.');
    }));

  it('names the other server when the data directory is in use', async () => {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, 'data');
    using _taken = await openDataDirectory(dataDir);
    const options = {
      program: [built('src/main.js')],
      env: { ...process.env, ANIMA_DATA_DIR: dataDir },
      cwd: directory.path,
      lookedAt: 'http://127.0.0.1:8080',
      requestTo,
      sleep: sleepFor,
      signal: new AbortController().signal,
    };
    await expect(startDemoServer(options)).rejects.toThrow(
      `No server answers at http://127.0.0.1:8080, and another server is using the data directory ${dataDir}. ` +
        'If that server listens on another port, run: ANIMA_URL=http://127.0.0.1:<port> npm run demo',
    );
  });

  it('is stopped again when the demo is interrupted while it waits', async () => {
    const caller = new AbortController();
    await withProgram(
      'setInterval(() => undefined, 1000);',
      async (options) => {
        setTimeout(() => {
          caller.abort();
        }, 150);
        await expect(startDemoServer(options)).rejects.toThrow('Interrupted.');
      },
      caller.signal,
    );
  });

  it('does not count as running when something else answers at its address', async () => {
    expect(await isServing(() => Promise.resolve({ hello: 'world' }))).toBe(false);
    expect(await isServing(() => Promise.resolve(null))).toBe(false);
  });
});
