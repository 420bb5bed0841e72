// A headless tile game that plays ghost sessions of a mind server. README.md says how to run it.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { createGhostClient, type GhostClient } from '../../src/body/ghost-client.js';
import { MindError } from '../../src/body/mind-request.js';
import type { GhostResults } from '../../src/body/protocol.js';
import { beginSession, resumeGame } from './attach.js';
import { patiently } from './patience.js';
import { playSession } from './play.js';

const LOOK_AGAIN_MS = 200;

/** The results, once the server has made its report. */
const resultsOf = async (ghosts: GhostClient, sessionId: string): Promise<GhostResults> => {
  for (;;) {
    const results = await patiently(() => ghosts.results(sessionId));
    if (results.resultsPartial !== true) return results;
    await sleep(LOOK_AGAIN_MS);
  }
};

const showResults = (results: GhostResults): void => {
  for (const { testName, testPassed, testSkipped, testError } of results.resultsTests) {
    const word = testPassed ? 'passed ' : testSkipped === true ? 'skipped' : 'FAILED ';
    console.log(`${word} ${testName}${testError === null ? '' : `: ${testError}`}`);
  }
  for (const { n, kind, subject, count } of results.resultsFindings)
    console.log(`${String(n)}. ${kind} ${subject} (${String(count)} times)`);
  const { resultsPassed, resultsFailed, resultsSkipped, resultsCoverage, resultsStatus, resultsErrors } = results;
  console.log([resultsStatus, ...resultsErrors].join(': '));
  console.log(
    `${String(resultsPassed)} passed, ${String(resultsFailed)} failed, ${String(resultsSkipped)} skipped; ${String(Math.round(resultsCoverage * 100))}% of the tiles visited`,
  );
};

/** Of a server in this directory, or in the one it was told. Undefined when there is none. */
const ownerKey = async ({ ANIMA_DATA_DIR: directory = '.anima' }: NodeJS.ProcessEnv): Promise<string | undefined> =>
  (await readFile(join(directory, 'owner-key'), 'utf8').catch(() => undefined))?.trim();

const words = {
  session: { type: 'string' },
  level: { type: 'string' },
  goal: { type: 'string', default: 'maximize_exploration' },
} as const;

/** What was typed; null when it makes no sense, which has been said. */
const optionsTyped = () => {
  try {
    return parseArgs({ options: words }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)} README.md lists the options.`);
    return null;
  }
};

/** What the server says is wrong with a request, member by member. */
const issuesOf = ({ details }: MindError): readonly string[] =>
  Array.isArray(details['issues'])
    ? (details['issues'] as readonly { readonly pointer?: string; readonly message?: string }[]).map(
        ({ pointer = '', message = '' }) => `  ${pointer}: ${message}`,
      )
    : [];

const main = async (): Promise<void> => {
  const values = optionsTyped();
  if (values === null) {
    process.exitCode = 2;
    return;
  }
  const { ANIMA_URL: baseUrl = 'http://127.0.0.1:8080', ANIMA_API_KEY: given } = process.env;
  const key = given ?? (await ownerKey(process.env));
  if (key === undefined) {
    console.error("No API key: set ANIMA_API_KEY, or ANIMA_DATA_DIR to the server's data directory.");
    process.exitCode = 1;
    return;
  }
  const ghosts = createGhostClient({ baseUrl, key });
  const asked = { level: values.level, goal: values.goal, key: randomUUID() };
  const sessionId = values.session ?? (await beginSession(ghosts, asked));
  console.log(`session ${sessionId}`);
  const game = await resumeGame(ghosts, sessionId);
  if (game.world.steps > 0) console.log(`going on after step ${String(game.world.steps)}`);
  await playSession(ghosts, sessionId, game, { key: randomUUID, tell: (line) => console.log(line) });
  const results = await resultsOf(ghosts, sessionId);
  showResults(results);
  if (results.resultsFailed > 0 || results.resultsStatus !== 'completed') process.exitCode = 1;
};

try {
  await main();
} catch (error) {
  if (!(error instanceof MindError)) throw error;
  console.error([`${error.message} (${error.code})`, ...issuesOf(error)].join('\n'));
  process.exitCode = 1;
}
