import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { typed } from '../../../cli/typed.js';

type Server = Awaited<ReturnType<typeof openEmbeddedServer>>;
type Directory = Awaited<ReturnType<typeof temporaryDirectory>>;

describe('anima level', () => {
  let server: Server;
  let directory: Directory;
  const anima = (...words: string[]) =>
    typed(words, { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey }, cwd: directory.path });
  const file = (name: string): string => join(directory.path, name);

  beforeAll(async () => {
    server = await openEmbeddedServer();
    directory = await temporaryDirectory();
    await copyFile('levels/cellar.tmj', file('castle.tmj'));
    await writeFile(file('broken.tmj'), JSON.stringify({ orientation: 'isometric' }));
    await writeFile(file('text.tmj'), 'no map');
    await writeFile(file('twice.tmj'), '{"width": 1, "width": 2}');
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  it('puts a map, lists and deletes levels', async () => {
    expect(await anima('level', 'put', 'castle', 'castle.tmj')).toMatchObject({
      ...{ code: 0, stdout: 'Stored castle as version 1.\n' },
    });
    expect((await anima('level', 'put', 'castle', 'castle.tmj')).stdout).toBe('castle is unchanged (version 1).\n');
    const json = await anima('level', 'put', 'castle', 'castle.tmj', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ levelId: 'castle', version: 1, created: false });
    const { stdout } = await anima('level', 'list');
    expect(stdout).toMatch(/^cellar +built-in +\d+x\d+ +- /m);
    expect(stdout).toMatch(/^castle +1 +\d+x\d+ +20/m);
    expect((await anima('level', 'delete', 'castle')).stdout).toBe('Deleted castle.\n');
    expect((await anima('level', 'list')).stdout).not.toMatch(/^castle/m);
  });

  it('explains why a map is not a level [1.2h, 11.5f]', async () => {
    const broken = await anima('level', 'put', 'castle', 'broken.tmj');
    expect([broken.code, broken.stdout]).toEqual([1, '']);
    expect(broken.stderr).toMatch(/\(LEVEL_INVALID\)\n {2}\S/);
    expect((await anima('level', 'put', 'castle', 'text.tmj')).stderr).toBe(
      'text.tmj is not valid JSON. The JSON is invalid at line 1, column 1.\n',
    );
    expect((await anima('level', 'put', 'castle', 'twice.tmj')).stderr).toBe(
      'twice.tmj is not valid JSON. An object has two members named "width".\n',
    );
    expect((await anima('level', 'put', 'castle', 'none.tmj')).stderr).toBe('none.tmj does not exist.\n');
  });

  it('requires a legal session time in seconds', async () => {
    const long = await anima('ghost', 'run', '--timeout', '86401');
    expect([long.code, long.stderr]).toEqual([2, expect.stringContaining('from 1 to 86400.')]);
  });
});
