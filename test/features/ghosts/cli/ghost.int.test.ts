import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { itLong } from '../../../support/long.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { typed } from '../../../cli/typed.js';

type Server = Awaited<ReturnType<typeof openEmbeddedServer>>;
type Directory = Awaited<ReturnType<typeof temporaryDirectory>>;

describe('anima ghost', () => {
  let server: Server;
  let directory: Directory;
  const anima = (...words: string[]) =>
    typed(['ghost', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey }, cwd: directory.path });
  const inFile = (name: string): Promise<string> => readFile(join(directory.path, name), 'utf8');

  beforeAll(async () => {
    server = await openEmbeddedServer();
    directory = await temporaryDirectory();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  it('follows a session to its end, fails when a test fails, and writes files for pipelines [11.5d]', async () => {
    const found = await anima('run', '--level', 'faulty', '--seed', '7', '--follow', '--junit', 'ghost.xml');
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/^FAILED +soft_lock /m);
    expect(found.stderr).toMatch(/^found unreachable_goal walled-up room: /m);
    expect(found.stdout).toMatch(/^\d+\. unreachable_goal walled-up room: /m);
    expect(found.stdout).toMatch(/^\d+ findings? fails? no test \(--all shows them\)\.$/m);
    expect(found.stdout).not.toMatch(/mind_allowed_world_refused \w+\//);
    expect(found.stderr).toMatch(/^Session g0_\S+, seed 7\.$/m);
    expect(await inFile('ghost.xml')).toMatch(/<testsuite [^>]*failures="[1-9]/);
    const fine = await anima('run', '--level', 'cellar', '--goal', 'complete_level', '--follow', '--json');
    expect(fine.code, fine.stderr).toBe(0);
    expect(JSON.parse(fine.stdout)).toMatchObject({ resultsFailed: 0 });
  });

  it('runs a session for an external game, shows how to attach it, and follows the session', async () => {
    const asked = ['run', '--level', 'cellar', '--goal', 'complete_level', '--driver', 'remote'];
    const { stdout, stderr } = await anima(...asked);
    const [id = ''] = stdout.split(' ');
    expect(stderr).toContain(`POST /ghost/${id}/process`);
    expect((await anima('status', id)).stdout).toMatch(/running: step 0 of \d+ /);
    const followed = await anima(...asked, '--follow', '--json', '--timeout', '2');
    expect(followed.stderr).toMatch(/^The session waits for your game /m);
    expect(JSON.parse(followed.stdout)).toMatchObject({ resultsTimedOut: true, resultsFailed: 0 });
    expect(followed.code).toBe(1);
    await anima('stop', id);
  });

  it('shows the progress and findings of a session, lists all sessions, and stops one', async () => {
    const { stdout } = await anima('run', '--level', 'market', '--goal', 'collect_metrics', '--json');
    const { id } = JSON.parse(stdout) as { id: string };
    expect((await anima('status', id)).stdout).toMatch(
      /: step \d+ of \d+ after [\d.]+ s \(collect_metrics in market\)$/m,
    );
    expect((await anima('stop', id)).stdout).toBe(`Stopped ${id}.\n`);
    const picture = await anima('picture', id, '--out', 'way.svg');
    expect([picture.code, picture.stderr]).toEqual([0, `Wrote the picture of ${id} to way.svg.\n`]);
    expect(await inFile('way.svg')).toMatch(/^<svg /);
    const nowhere = await anima('picture', 'g0_0_aaaaaaaaaaaaaaaa', '--out', 'nothing.svg');
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringMatching(/GHOST_NOT_FOUND/)]);
    const png = await anima('picture', id, '--out', 'way.png');
    expect([png.code, png.stderr]).toEqual([2, expect.stringMatching(/name the file \.svg/)]);
    const results = await anima('results', id, '--all', '--junit', 'stopped.xml');
    expect([results.code, results.stderr]).toEqual([1, `Session ${id} did not pass. It was stopped.\n`]);
    expect(await inFile('stopped.xml')).toContain('errors="1"');
    expect(results.stdout).toMatch(/^steps +\d+$/m);
    expect((await anima('history', '--limit', '1')).stdout).toMatch(new RegExp(`^${id} +collect_metrics `, 'm'));
    const unknown = await anima('status', 'g0_0_aaaaaaaaaaaaaaaa');
    expect([unknown.code, unknown.stderr]).toEqual([1, 'No ghost session with this ID exists. (GHOST_NOT_FOUND)\n']);
  });

  itLong('saves the shortest way to a finding to a file, replays it, and compares sessions [11.5d]', async () => {
    const asked = ['run', '--level', 'faulty', '--seed', '7', '--follow', '--json'];
    const results = JSON.parse((await anima(...asked)).stdout) as {
      resultsSessionId: string;
      resultsFindings: { n: number; kind: string }[];
    };
    const id = results.resultsSessionId;
    const lock = String(results.resultsFindings.find(({ kind }) => kind === 'soft_lock')?.n);
    const repro = await anima('repro', id, lock, '--out', 'lock.json');
    expect(repro.stderr).toMatch(/^Wrote lock\.json: soft_lock way out occurs after \d+ steps\.$/m);
    const replayed = await anima('replay', 'lock.json');
    expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringMatching(/^soft_lock way out occurs after /)]);
    const missing = await anima('replay', 'nowhere.json');
    expect([missing.code, missing.stderr]).toEqual([3, 'nowhere.json does not exist.\n']);
    await writeFile(join(directory.path, 'other.json'), '{}');
    const other = await anima('replay', 'other.json');
    expect([other.code, other.stderr]).toEqual([3, expect.stringMatching(/^other\.json is not a reproduction\. /)]);
    const again = JSON.parse((await anima(...asked)).stdout) as { resultsSessionId: string };
    const same = await anima('compare', id, again.resultsSessionId);
    expect([same.code, same.stdout]).toEqual([0, expect.stringMatching(/^0 new, 0 gone, \d+ unchanged$/m)]);
    const fine = JSON.parse((await anima('run', '--level', 'cellar', '--follow', '--json')).stdout) as {
      resultsSessionId: string;
    };
    const apart = await anima('compare', fine.resultsSessionId, id);
    expect([apart.code, apart.stderr]).toEqual([3, 'Only sessions with the same goal and level can be compared.\n']);
    expect(apart.stdout).toMatch(/^new {3}\d+\. soft_lock way out: /m);
    const elsewhere = await anima('replay', 'lock.json', '--level', 'cellar');
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringMatching(/no longer occurs/)]);
    const mended = await anima('replay', 'lock.json', '--level', 'cellar', '--mended');
    expect([mended.code, mended.stdout]).toEqual([0, expect.stringMatching(/no longer occurs/)]);
    const notMended = await anima('replay', 'lock.json', '--mended');
    expect([notMended.code, notMended.stderr]).toEqual([1, expect.stringMatching(/occurs after \d+ steps/)]);
  });

  it('refuses options that contradict each other [11.5d, 11.5f]', async () => {
    const alone = await anima('run', '--junit', 'x.xml');
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringMatching(/^--junit needs --follow: .*\.\n$/)]);
    const nowhere = await anima('run', '--follow', '--junit', 'nowhere/x.xml');
    expect([nowhere.code, nowhere.stderr]).toEqual([3, 'nowhere/x.xml cannot be written (ENOENT).\n']);
    expect((await anima('run', '--goal', 'win')).code).toBe(2);
    const mistyped = await anima('run', '--level', 'celar');
    expect([mistyped.code, mistyped.stderr]).toEqual([
      3,
      'Level celar does not exist. Pass --generate to generate it from its name and the seed.\n',
    ]);
    const generated = await anima('run', '--level', 'celar', '--generate', '--timeout', '1');
    expect([generated.code, generated.stdout]).toEqual([0, expect.stringMatching(/^g0_\S+ \(seed \d+\)\n$/)]);
    const nobody = await anima('run', '--engine', 'gpt-9');
    expect([nobody.code, nobody.stderr]).toEqual([
      3,
      expect.stringMatching(/No engine or model .*\(CORTEX_NOT_FOUND\)$/m),
    ]);
    // No body plays it, so nothing else can end it: a ghost that plays may die first.
    const late = await anima('run', '--level', 'cellar', '--driver', 'remote', '--timeout', '1', '--follow');
    expect([late.code, late.stderr]).toEqual([1, expect.stringMatching(/It timed out\. Raise --timeout/)]);
  });
});
