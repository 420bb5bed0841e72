import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { beforeAll, describe, expect, it } from 'vitest';

import { Child } from '../../support/child.js';
import type { ServerName } from '../like.js';
import { startStandIn } from '../start.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const THEMES = [
  'append',
  'idempotence',
  'concurrency',
  'events',
  'size',
  'read-stream',
  'read-all',
  'subscribe-stream',
  'subscribe-all',
  'filters',
  'failures',
];
/** A machine that is busy with other tests answers later, but not differently. */
const PATIENCE = 4;
const LIMIT_MS = 600_000;

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The server that each file of recorded answers belongs to. The stand-in gets only the questions that its server got. */
const SERVERS: readonly { readonly like: ServerName; readonly golden: string; readonly skip: readonly string[] }[] = [
  { like: 'eventstoredb-23.10', golden: 'golden.json', skip: [] },
  {
    like: 'kurrentdb-25',
    golden: 'golden-kurrentdb-25.json',
    skip: ['exit: what keeps a process alive, and what lets it go'],
  },
];

type LeftOut = { readonly both: Readonly<Record<string, string>> } & Readonly<
  Record<ServerName, Readonly<Record<string, string>>>
>;
type Run = { readonly output: string; readonly same: readonly string[]; readonly different: readonly string[] };

const runTool = async ({ like, golden, skip }: (typeof SERVERS)[number]): Promise<Run> => {
  await using data = await temporaryDirectory();
  const { child: server, url } = await startStandIn(data.path, { like });
  await using _ = server;
  const themes = THEMES.flatMap((theme) => ['--theme', theme]);
  const options = [
    '--url',
    url,
    '--client',
    fileOf('../../..'),
    '--check',
    fileOf(golden),
    '--patience',
    String(PATIENCE),
  ];
  await using tool = new Child(
    [fileOf('conformance.mjs'), ...options, ...themes, ...skip.flatMap((name) => ['--skip', name])],
    {},
  );
  await tool.exited();
  const named = (word: string): string[] =>
    tool.lines.flatMap((line) => new RegExp(`^${word} +\\d+ ms  [a-z-]+ / (.*)$`).exec(line)?.[1] ?? []);
  return { output: `${tool.stdout}\n${tool.stderr}`, same: named('same'), different: named('DIFFERENT') };
};

describe.each(SERVERS)('the stand-in for $like', (server) => {
  let run: Run;
  let leftOut: readonly string[];

  beforeAll(async () => {
    const { both, [server.like]: own } = JSON.parse(await readFile(fileOf('left-out.json'), 'utf8')) as LeftOut;
    leftOut = [...Object.keys(both), ...Object.keys(own)];
    run = await runTool(server);
  }, LIMIT_MS);

  it('gives the recorded answers to everything that is not listed as left out', () => {
    expect(run.same, run.output).not.toEqual([]);
    expect(
      run.different.filter((name) => !leftOut.includes(name)),
      run.output,
    ).toEqual([]);
  });

  it('gets every scenario of the relevant themes', async () => {
    const { scenarios } = JSON.parse(await readFile(fileOf(server.golden), 'utf8')) as {
      readonly scenarios: Readonly<Record<string, { readonly theme: string }>>;
    };
    const due = Object.keys(scenarios).filter((name) => THEMES.includes(scenarios[name]?.theme ?? ''));
    expect([...run.same, ...run.different].sort()).toEqual(due.sort());
  });

  it('differs in everything that is listed as left out', () => {
    expect(leftOut.filter((name) => !run.different.includes(name))).toEqual([]);
  });
});
