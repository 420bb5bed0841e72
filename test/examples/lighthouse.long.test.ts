import { createServer } from 'node:net';

import { describe, expect, it } from 'vitest';

import { apiOf } from '../support/api.js';
import { type Child, startBuilt } from '../support/child.js';
import { openEmbeddedServer } from '../support/embedded-server.js';

const MAIN = 'examples/lighthouse/main.js';

/** A port that is free now: the game must find the server again after it was killed. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject).listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

type Step = { readonly step: number; readonly action: unknown; readonly told: unknown };

describe('examples/lighthouse', () => {
  it('explains in one message what it cannot do, and begins no session then', async () => {
    await using server = await openEmbeddedServer();
    const env = { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey };
    const told = async (...args: readonly string[]) => {
      await using child = startBuilt(MAIN, { env, args });
      const { code } = await child.exited();
      return [code, child.stderr];
    };
    expect(await told('--nope')).toEqual([
      2,
      expect.stringMatching(/^Unknown option '--nope'.* README\.md lists .*\n$/),
    ]);
    expect(await told('--goal', 'win')).toEqual([1, expect.stringMatching(/\(SCHEMA_INVALID\)\n {2}\/goal: /)]);
    expect(await told('--level', 'nowhere')).toEqual([1, expect.stringMatching(/\(LEVEL_NOT_FOUND\)\n$/)]);
    const { body } = await apiOf(server.url, server.ownerKey).get('/ghost/history');
    expect(body).toMatchObject({ sessions: [] });
  });

  it('plays a session to its end, and continues with the recorded turns when it or the server is killed [9.6h]', async () => {
    await using server = await openEmbeddedServer({ PORT: String(await freePort()) });
    const api = apiOf(server.url, server.ownerKey);
    const env = { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey };
    const game = (...args: readonly string[]): Child => startBuilt(MAIN, { env, args });
    const stepsOf = async (id: string): Promise<readonly Step[]> =>
      ((await api.get(`/ghost/${id}/steps?limit=500`)).body as { steps: Step[] }).steps;
    const sessionOf = async (child: Child): Promise<string> =>
      (await child.waitForLine(/^session /)).slice('session '.length);
    const ended = async (child: Child): Promise<readonly string[]> => {
      const { code } = await child.exited();
      const said = child.stderr.replace(/^.* Waiting \.\.\.\n/gm, '');
      expect({ code, said }).toEqual({ code: 0, said: '' });
      return child.lines.filter((line) => /^(passed|skipped|FAILED|\d+\.|\d+ passed,) /.test(line));
    };
    const played = (steps: readonly Step[]): readonly unknown[] =>
      steps.map(({ step, action, told }) => ({ step, action, told }));

    await using undisturbed = game();
    const wantedId = await sessionOf(undisturbed);
    const wanted = await ended(undisturbed);
    expect(wanted).toContain('passed  goal lamp room');
    expect(wanted).toContainEqual(expect.stringMatching(/^\d+\. mind_allowed_world_refused MOVE\/WALL /));
    expect(wanted.at(-1)).toMatch(/^6 passed, 0 failed, 5 skipped; /);
    const wantedSteps = await stepsOf(wantedId);

    let killed = game();
    const id = await sessionOf(killed);
    for (const waitMs of [35, 90, 10, 60]) {
      await killed.waitForLine(/^step /);
      // Somewhere in a turn, which takes about 20 ms.
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await killed.kill();
      const before = (await stepsOf(id)).length;
      killed = game('--session', id);
      await killed.waitForLine(new RegExp(`^going on after step ${String(before)}$`));
    }
    await killed.waitForLine(/^step /);
    await server.restart('kill');
    expect(await ended(killed)).toEqual(wanted);
    expect(played(await stepsOf(id))).toEqual(played(wantedSteps));

    // A game that connects when it is over gets the results.
    await using late = game('--session', id);
    expect(await ended(late)).toEqual(wanted);
  }, 300_000);

  it('explains what is wrong with its arguments', async () => {
    await using server = await openEmbeddedServer();
    const env = { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey };
    await using unknown = startBuilt(MAIN, { env, args: ['--session', 'g0_0_aaaaaaaaaaaaaaaa'] });
    expect((await unknown.exited()).code).toBe(1);
    expect(unknown.stderr).toBe('No ghost session with this ID exists. (GHOST_NOT_FOUND)\n');
    await using keyless = startBuilt(MAIN, { env: { ANIMA_URL: server.url, ANIMA_DATA_DIR: '/nowhere' } });
    expect((await keyless.exited()).code).toBe(1);
    expect(keyless.stderr).toBe("No API key: set ANIMA_API_KEY, or ANIMA_DATA_DIR to the server's data directory.\n");
  });
});
