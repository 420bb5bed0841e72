import { Command } from 'commander';

import type { ListedSession, SessionStatus } from '../http/sessions.js';
import { openClient } from '../../../cli/shared/client.js';
import { writeTyped } from '../../../cli/shared/files.js';
import { compareCommand, replayCommand, reproCommand } from './repro.js';
import { runGhostCommand } from './run.js';
import { allOption, junitOption, requirePassed, type ShowOptions, showResults } from './show.js';
import type { GhostResults } from './ghost-text.js';
import { judging } from '../../../cli/shared/judging.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

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
      if (status.ghostWaiting !== null) print(terminal, `It waits for its engine: ${status.ghostWaiting}`);
      for (const error of ghostErrors) print(terminal, error);
    });
type GhostStatus = (typeof SessionStatus)['static'];

/** Before its report is made, a session may be over already. */
const stillPlays = ({ resultsStatus }: GhostResults): boolean =>
  resultsStatus === 'pending' || resultsStatus === 'running';

/** `anima ghost results <session>`. */
const resultsCommand = (terminal: Terminal): Command =>
  new Command('results')
    .description('what a session has found')
    .argument('<session>')
    .addOption(junitOption())
    .addOption(allOption())
    .option('--json', 'print the results as a line of JSON')
    .action(
      judging(async (sessionId: string, options: ShowOptions) => {
        const request = await openClient(terminal);
        const results = (await request('GET', sessionPath(sessionId, 'results'))) as GhostResults;
        await showResults(terminal, results, options);
        if (!stillPlays(results)) requirePassed(results);
      }),
    );

/** `anima ghost stop <session>`. */
const stopCommand = (terminal: Terminal): Command =>
  new Command('stop')
    .description('stop a session; what it has found so far stays')
    .argument('<session>')
    .option('--json', 'print the status after that as a line of JSON')
    .action(async (sessionId: string, { json = false }: { readonly json?: boolean }) => {
      const request = await openClient(terminal);
      await request('POST', sessionPath(sessionId, 'stop'), {});
      const status = (await request('GET', sessionPath(sessionId, 'status'))) as GhostStatus;
      if (json) {
        printJson(terminal, status);
        return;
      }
      const { ghostStatus } = status;
      const isStopped = ghostStatus === 'stopped';
      print(terminal, isStopped ? `${sessionId} is stopped.` : `${sessionId} was already over: ${ghostStatus}.`);
    });

type HistoryItem = (typeof ListedSession)['static'];
const passed = (status: string, rate: number): string =>
  status === 'pending' || status === 'running' ? '-' : `${String(Math.round(rate * 100))}%`;
const levelName = ({ levelId, version }: HistoryItem['histLevel']): string =>
  version === null ? levelId : `${levelId} v${String(version)}`;
const historyLine = cellsOf([31, 21, 24, 10, 6, 11, 20]);

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
        header: historyLine(['SESSION', 'GOAL', 'STARTED', 'STATUS', 'PASSED', 'SEED', 'LEVEL']),
        lineOf: ({ histSessionId, histGoal, histStartedAt, histStatus, histPassRate, histSeed, histLevel }) =>
          historyLine([
            ...[histSessionId, histGoal, histStartedAt, histStatus],
            ...[passed(histStatus, histPassRate), String(histSeed), levelName(histLevel)],
          ]),
        none: 'No sessions.',
      }),
    );

const EXIT_CODES =
  '\nExit code of run, results, replay and compare: 0 a pass, 1 none, 2 wrong usage, 3 nothing was judged (no server, no such file, session or level).';

const SVG = 'image/svg+xml';

/** `anima ghost picture <session>`: the level with the ghost's way through it. */
const pictureCommand = (terminal: Terminal): Command =>
  new Command('picture')
    .description("draw the level with the ghost's way through it and where findings began, as SVG, which browsers show")
    .argument('<session>')
    .requiredOption('--out <file>', 'where to write it, such as ghost.svg')
    .action(async (sessionId: string, { out }: { readonly out: string }) => {
      if (/\.(?:png|jpe?g|gif|webp)$/i.test(out))
        throw new CommandFailed(
          `The picture is an SVG: name the file .svg, not ${out}. As PNG it is at /ghost/${sessionId}/picture?format=png.`,
        );
      const request = await openClient(terminal);
      const path = `/ghost/${encodeURIComponent(sessionId)}/picture`;
      const picture = (await request('GET', path, undefined, { accept: SVG })) as string;
      await writeTyped(terminal, out, picture);
      remark(terminal, `${out} shows the way of ${sessionId}.`);
    });

/** `anima ghost`: headless NPCs that test levels. */
export const ghostCommand = (terminal: Terminal): Command =>
  new Command('ghost')
    .description('send headless NPCs into levels, and see what they find')
    .addHelpText('after', EXIT_CODES)
    .addCommand(runGhostCommand(terminal))
    .addCommand(statusCommand(terminal))
    .addCommand(resultsCommand(terminal))
    .addCommand(stopCommand(terminal))
    .addCommand(historyCommand(terminal))
    .addCommand(pictureCommand(terminal))
    .addCommand(reproCommand(terminal))
    .addCommand(replayCommand(terminal))
    .addCommand(compareCommand(terminal));
