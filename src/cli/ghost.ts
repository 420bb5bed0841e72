import { writeFile } from 'node:fs/promises';

import { Command, Option } from 'commander';

import { ghostGoals } from '../domain/ghost/policy.js';
import { defined } from '../domain/shared/defined.js';
import { openClient } from './client.js';
import { followGhost } from './ghost-follow.js';
import { compareCommand, replayCommand, reproCommand } from './ghost-repro.js';
import { findingLine, type GhostResults, isShown, resultLines } from './ghost-text.js';
import { junitOf } from '../domain/ghost/junit.js';
import { cellsOf, printListing } from './listing.js';
import { fileOf } from './soul-file.js';
import { CommandFailed, print, printJson, remark, type Terminal } from './terminal.js';
import { wholeFrom } from './whole-from.js';

type RunOptions = {
  readonly level?: string;
  readonly goal: string;
  readonly seed?: number;
  readonly steps?: number;
  readonly timeout?: number;
  readonly follow?: boolean;
  readonly junit?: string;
  readonly all?: boolean;
  readonly json?: boolean;
};

/** The default of contract 9.1 in seconds; a session in a pipeline wants more than the minute of 7.3. */
const DEFAULT_SECONDS = 300;

/** What failed, so that a pipeline stops; the results were printed already. */
const failedTests = ({ resultsFailed, resultsSessionId }: GhostResults): CommandFailed =>
  new CommandFailed(
    `${String(resultsFailed)} of the tests failed. How a finding comes about: anima ghost repro ${resultsSessionId} <number>.`,
  );

const show = async (
  terminal: Terminal,
  results: GhostResults,
  { json = false, junit, all = false }: Pick<RunOptions, 'json' | 'junit' | 'all'>,
): Promise<void> => {
  if (json) printJson(terminal, results);
  else for (const line of resultLines(results, all)) print(terminal, line);
  if (junit === undefined) return;
  await writeFile(fileOf(terminal, junit), junitOf(results)).catch((error: unknown) => {
    throw new CommandFailed(
      `${junit} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`,
    );
  });
};

const allOption = (): Option => new Option('--all', 'show also what fails no test, and every figure');
const junitOption = (): Option => new Option('--junit <file>', 'write the results as JUnit XML, for a pipeline');

/** `anima ghost run`: sends a ghost into a level, and with `--follow` waits for what it finds. */
const runCommand = (terminal: Terminal): Command =>
  new Command('run')
    .description('send a ghost into a level; with --follow wait for what it finds, and fail if a test fails')
    .option('--level <name>', 'a level; one that nobody registered is made up from its name and the seed')
    .addOption(new Option('--goal <goal>', 'what it is after').choices([...ghostGoals]).default('find_bugs'))
    .option('--seed <n>', 'the same seed plays the same session', wholeFrom(0))
    .option('--steps <n>', 'how many steps it may take; without it, by goal and level', wholeFrom(1))
    .option('--timeout <seconds>', 'how long it may take', wholeFrom(1), DEFAULT_SECONDS)
    .option('--follow', 'show findings as they come, and wait for the end')
    .addOption(junitOption())
    .addOption(allOption())
    .option('--json', 'print the session, or with --follow the results, as a line of JSON')
    .action(
      async ({ level, goal, seed, steps, timeout, follow = false, junit, all = false, json = false }: RunOptions) => {
        if (junit !== undefined && !follow)
          throw new CommandFailed('--junit needs --follow: there are no results yet.');
        const request = await openClient(terminal);
        const asked = { goal, timeout: (timeout ?? DEFAULT_SECONDS) * 1_000, ...defined({ level, seed, steps }) };
        const session = (await request('POST', '/v1/ghost/run', asked)) as {
          readonly id: string;
          readonly seed: number;
        };
        if (!follow) {
          if (json) printJson(terminal, session);
          else print(terminal, `${session.id} (seed ${String(session.seed)})`);
          return;
        }
        remark(terminal, `Session ${session.id}, seed ${String(session.seed)}.`);
        const results = await followGhost(request, session.id, (finding) => {
          if (!json && (all || isShown(finding))) remark(terminal, findingLine(finding));
        });
        await show(terminal, results, { json, all, ...defined({ junit }) });
        if (results.resultsFailed > 0) throw failedTests(results);
      },
    );

const sessionPath = (sessionId: string, what: string): string => `/ghost/${encodeURIComponent(sessionId)}/${what}`;

/** `anima ghost status <session>`. */
const statusCommand = (terminal: Terminal): Command =>
  new Command('status')
    .description('how far a session is')
    .argument('<session>')
    .option('--json', 'print it as a line of JSON')
    .action(async (sessionId: string, { json = false }: { readonly json?: boolean }) => {
      const request = await openClient(terminal);
      const status = (await request('GET', sessionPath(sessionId, 'status'))) as GhostStatus;
      if (json) {
        printJson(terminal, status);
        return;
      }
      const { ghostStatus, ghostStep, ghostSteps, ghostDuration, ghostLevel, ghostGoal, ghostErrors } = status;
      const late = status.ghostTimedOut ? ', its time was over' : '';
      print(
        terminal,
        `${ghostStatus}${late}: step ${String(ghostStep)} of ${String(ghostSteps)} after ${String(ghostDuration)} s (${ghostGoal} in ${ghostLevel.levelId})`,
      );
      for (const error of ghostErrors) print(terminal, error);
    });
type GhostStatus = {
  readonly ghostStatus: string;
  readonly ghostTimedOut: boolean;
  readonly ghostStep: number;
  readonly ghostSteps: number;
  readonly ghostDuration: number;
  readonly ghostGoal: string;
  readonly ghostLevel: { readonly levelId: string };
  readonly ghostErrors: readonly string[];
};

/** `anima ghost results <session>`. */
const resultsCommand = (terminal: Terminal): Command =>
  new Command('results')
    .description('what a session has found')
    .argument('<session>')
    .addOption(junitOption())
    .addOption(allOption())
    .option('--json', 'print the results as a line of JSON')
    .action(async (sessionId: string, options: Pick<RunOptions, 'json' | 'junit' | 'all'>) => {
      const request = await openClient(terminal);
      const results = (await request('GET', sessionPath(sessionId, 'results'))) as GhostResults;
      await show(terminal, results, options);
      if (results.resultsFailed > 0 && results.resultsPartial !== true) throw failedTests(results);
    });

/** `anima ghost stop <session>`. */
const stopCommand = (terminal: Terminal): Command =>
  new Command('stop')
    .description('stop a session; what it has found so far stays')
    .argument('<session>')
    .action(async (sessionId: string) => {
      const request = await openClient(terminal);
      await request('POST', sessionPath(sessionId, 'stop'), {});
      print(terminal, `${sessionId} is stopped.`);
    });

type HistoryItem = {
  readonly histSessionId: string;
  readonly histGoal: string;
  readonly histLevel: { readonly levelId: string };
  readonly histStartedAt: string;
  readonly histStatus: string;
  readonly histPassRate: number;
};
const historyLine = cellsOf([31, 21, 24, 10, 6, 20]);

/** `anima ghost history`. */
const historyCommand = (terminal: Terminal): Command =>
  new Command('history')
    .description('list the sessions, newest first')
    .option('--limit <n>', 'at most this many', wholeFrom(1), 10)
    .option('--json', 'print each session as a line of JSON')
    .action(({ limit, json = false }: { readonly limit: number; readonly json?: boolean }) =>
      printListing<HistoryItem>(terminal, {
        path: '/ghost/history',
        member: 'sessions',
        query: {},
        limit,
        json,
        header: historyLine(['SESSION', 'GOAL', 'STARTED', 'STATUS', 'PASSED', 'LEVEL']),
        lineOf: ({ histSessionId, histGoal, histStartedAt, histStatus, histPassRate, histLevel }) =>
          historyLine([
            ...[histSessionId, histGoal, histStartedAt, histStatus],
            ...[`${String(Math.round(histPassRate * 100))}%`, histLevel.levelId],
          ]),
        none: 'No sessions.',
      }),
    );

/** `anima ghost`: headless NPCs that test levels. */
export const ghostCommand = (terminal: Terminal): Command =>
  new Command('ghost')
    .description('send headless NPCs into levels, and see what they find')
    .addCommand(runCommand(terminal))
    .addCommand(statusCommand(terminal))
    .addCommand(resultsCommand(terminal))
    .addCommand(stopCommand(terminal))
    .addCommand(historyCommand(terminal))
    .addCommand(reproCommand(terminal))
    .addCommand(replayCommand(terminal))
    .addCommand(compareCommand(terminal));
