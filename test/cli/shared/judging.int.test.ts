import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startApp, type TestApp } from '../../support/http.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { runRoute } from '../../kernel/http/fake-routes.js';
import { typed } from '../typed.js';

const replay = {
  ...{ replayId: 'r1', status: 'completed', progress: 1, trial: false, minds: 1, unknown: [] },
  ...{ turns: { checked: 3, equal: 2, different: 1, skipped: 0 }, differences: { otherAction: 1 }, samples: [] },
  byLogic: { decisions: 2, samples: [] },
};
const finding = {
  ...{ n: 1, kind: 'soft_lock', subject: 'way out', detail: 'It is locked.', fromStep: 3, toStep: 3, count: 1 },
};
const compared = { comparable: true, added: [finding], gone: [], kept: [] };

const answering = (method: 'GET' | 'POST', path: string, body: object) =>
  runRoute(() => ({ body }), { operationId: method + path, method, path });

describe('a command that checks something', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let app: TestApp;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    await writeFile(join(directory.path, 'rules.json'), JSON.stringify({ rulesetRules: [] }));
    const repro = { format: 'anima-ghost-repro/1', finding, steps: 3, minimal: true };
    await writeFile(join(directory.path, 'repro.json'), JSON.stringify(repro));
    app = await startApp([
      answering('POST', '/replays', replay),
      answering('GET', '/replays/r1', replay),
      answering('GET', '/ghost/one/compare/two', compared),
    ]);
  });
  afterAll(async () => {
    await app.stop();
    await directory[Symbol.asyncDispose]();
  });

  const anima = (words: readonly string[], env: Record<string, string>) => typed(words, { env, cwd: directory.path });

  it.each([
    'replay',
    'trial rules.json',
    'ghost run --follow',
    'ghost results g1',
    'ghost replay repro.json',
    'ghost compare one two',
  ])('exits with 3 without a server, and without a key: %s [11.5d]', async (line) => {
    const words = line.split(' ');
    const away = await anima(words, { ANIMA_URL: 'http://127.0.0.1:1', ANIMA_API_KEY: 'good' });
    expect([away.code, away.stderr]).toEqual([3, expect.stringContaining('No server answers at http://127.0.0.1:1.')]);
    const keyless = await anima(words, { ANIMA_URL: app.url });
    expect([keyless.code, keyless.stderr]).toEqual([3, expect.stringContaining('No API key')]);
  });

  it('exits with 1 if a decision has a different result, or a finding is new [11.5d]', async () => {
    const env = { ANIMA_URL: app.url, ANIMA_API_KEY: 'good' };
    const replayed = await anima(['replay'], env);
    expect([replayed.code, replayed.stderr]).toEqual([1, expect.stringContaining('1 turn differs from the record.')]);
    const tried = await anima(['trial', 'rules.json', '--fail-on', 'by-logic=1,other-action=1'], env);
    expect([tried.code, tried.stderr]).toEqual([1, expect.stringContaining('failed: by-logic 2 (at most 1).')]);
    const later = await anima(['ghost', 'compare', 'one', 'two'], env);
    expect([later.code, later.stderr]).toEqual([1, '1 finding is new.\n']);
  });
});
