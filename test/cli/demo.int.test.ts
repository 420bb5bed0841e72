import { Readable, Writable } from 'node:stream';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readOwnerKey } from '../../src/adapters/files/owner-key-file.js';
import { sleepFor } from '../../src/body/deadline.js';
import { createMindRequest } from '../../src/body/mind-request.js';
import { demoCommand } from '../../src/cli/demo.js';
import type { DemoResult } from '../../src/cli/demo/run-demo.js';
import { scene } from '../../src/cli/demo/scene.js';
import { startDemoServer, type StartedServer } from '../../src/cli/demo/server.js';
import type { Terminal } from '../../src/cli/shared/terminal.js';
import { built } from '../support/built.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const lines = scene.acts.flatMap((act) => act.lines);

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: StartedServer | undefined;

beforeAll(async () => {
  directory = await temporaryDirectory();
  server = await startDemoServer({
    program: [built('src/main.js')],
    env: { ...process.env, ANIMA_DATA_DIR: directory.path, LOG_LEVEL: 'silent' },
    cwd: directory.path,
    lookedAt: 'http://127.0.0.1:8080',
    requestTo: (baseUrl) => createMindRequest({ baseUrl }),
    sleep: sleepFor,
    signal: new AbortController().signal,
  });
});
afterAll(async () => {
  await server?.stop();
  await directory[Symbol.asyncDispose]();
});

const typed = async (...words: string[]): Promise<string> => {
  let said = '';
  const into = () =>
    new Writable({
      write: (chunk: Buffer, _, done) => {
        said += chunk.toString();
        done();
      },
    });
  const terminal: Terminal = {
    env: { ANIMA_URL: server?.url, ANIMA_DATA_DIR: directory.path },
    cwd: directory.path,
    stdin: Readable.from([]),
    stdout: into(),
    stderr: into(),
  };
  await demoCommand(terminal).parseAsync(words, { from: 'user' });
  return said;
};

describe('the demo on a running server', () => {
  it('plays its scene to the end as written, and again on the same server', async () => {
    for (let night = 1; night <= 2; night += 1) {
      const result = JSON.parse(await typed('--json')) as DemoResult;
      expect(result.turns.flatMap(({ says, surprise }) => (surprise === null ? [] : [{ says, surprise }]))).toEqual([]);
      expect(result.turns).toHaveLength(lines.length);
      expect(result.turns.every(({ requests }) => requests === 4)).toBe(true);
      const [told, asked, askedAgain] = result.guests;
      expect(told?.says).toBe(scene.guests.secret);
      expect([asked?.by, asked?.knows]).toEqual([scene.guests.other.name, false]);
      expect([askedAgain?.by, askedAgain?.knows]).toEqual([scene.guests.teller.name, true]);
      expect(result.history.events.length).toBeGreaterThan(lines.filter(({ to }) => to === 'maren').length);
      expect(result.why).toMatchObject({
        npcId: result.npcs['maren'],
        prompt: { madeAgain: true },
        verdict: { valid: false, code: 'ITEM_NOT_IN_INVENTORY' },
      });
    }
  });

  it('prints the play, the history and why a line was refused', async () => {
    const said = await typed('--fast');
    for (const { says } of lines) expect(said.replace(/\s+/g, ' ')).toContain(says);
    expect(said).toContain('The history of Maren');
    expect(said).toMatch(/core\.inventory REFUSED: ITEM_NOT_IN_INVENTORY/);
  });

  it('leaves no key behind', async () => {
    await typed('--json');
    const key = (await readOwnerKey(directory.path)) ?? '';
    const keys = (await createMindRequest({ baseUrl: server?.url ?? '', key })('GET', '/keys')) as {
      readonly name: string;
    }[];
    expect(keys.filter(({ name }) => name.startsWith('demo'))).toEqual([]);
  });
});
