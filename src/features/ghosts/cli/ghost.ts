import { Command } from 'commander';

import type { ListedSession, SessionStatus } from '../http/sessions.js';
import { openClient } from '../../../cli/shared/client.js';
import { writeTyped } from '../../../cli/shared/files.js';
import { compareCommand, replayCommand, reproCommand } from './repro.js';
import { runGhostCommand } from './run.js';
import { allOption, requirePassed, sessionArgument, type ShowOptions, showResults } from './show.js';
import type { GhostResults } from './ghost-text.js';
import { judging } from '../../../cli/shared/judging.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import { examples, jsonOption, junitOption, limitOption } from '../../../cli/shared/options.js';
import { print, printJson, remark, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';

const sessionPath = (sessionId: string, what: string): string => `/ghost/${encodeURIComponent(sessionId)}/${what}`;

const statusCommand = (terminal: Terminal): Command =>
  new Command('status')
    .description('show the progress of a session')
    .addArgument(sessionArgument())
    .addOption(jsonOption())
    .action(async (sessionId: string, { json = false }: { readonly json?: boolean }) => {
      const request = await openClient(terminal);
      const status = (await request('GET', sessionPath(sessionId, 'status'))) as GhostStatus;
      if (json) {
        printJson(terminal, status);
        return;
      }
      const { ghostStatus, ghostStep, ghostSteps, ghostDuration, ghostLevel, ghostGoal, ghostErrors } = status;
      const late = status.ghostTimedOut ? ' (timed out)' : '';
      print(
        terminal,
        `${ghostStatus}${late}: step ${String(ghostStep)} of ${String(ghostSteps)} after ${String(ghostDuration)} s (${ghostGoal} in ${ghostLevel.levelId})`,
      );
      if (status.ghostWaiting !== null) print(terminal, `Waiting for the engine: ${status.ghostWaiting}`);
      for (const error of ghostErrors) print(terminal, error);
    });
type GhostStatus = (typeof SessionStatus)['static'];

/** A session that has ended may still have partial results, until its report is made. */
const stillPlays = ({ resultsStatus }: GhostResults): boolean =>
  resultsStatus === 'pending' || resultsStatus === 'running';

const resultsCommand = (terminal: Terminal): Command =>
  new Command('results')
    .description('show the tests and findings of a session; fail if it has ended and did not pass')
    .addArgument(sessionArgument())
    .addOption(junitOption())
    .addOption(allOption())
    .addOption(jsonOption())
    .action(
      judging(async (sessionId: string, options: ShowOptions) => {
        const request = await openClient(terminal);
        const results = (await request('GET', sessionPath(sessionId, 'results'))) as GhostResults;
        await showResults(terminal, results, options);
        if (!stillPlays(results)) requirePassed(results);
      }),
    );

const stopCommand = (terminal: Terminal): Command =>
  new Command('stop')
    .description('stop a session (its findings so far are kept)')
    .addArgument(sessionArgument())
    .addOption(jsonOption())
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
      print(terminal, isStopped ? `Stopped ${sessionId}.` : `${sessionId} had already ended (${ghostStatus}).`);
    });

type HistoryItem = (typeof ListedSession)['static'];
const passed = (status: string, rate: number): string =>
  status === 'pending' || status === 'running' ? '-' : `${String(Math.round(rate * 100))}%`;
const levelName = ({ levelId, version }: HistoryItem['histLevel']): string =>
  version === null ? levelId : `${levelId} v${String(version)}`;
const historyLine = cellsOf([31, 21, 24, 10, 6, 11, 20]);

const historyCommand = (terminal: Terminal): Command =>
  new Command('history')
    .description('list the ghost sessions, newest first')
    .addOption(limitOption(10))
    .addOption(jsonOption('session'))
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
        none: 'No ghost sessions.',
      }),
    );

const EXIT_CODES = `
Exit codes of run, results, replay and compare:
  0  passed, or still running
  1  a check failed, or the session failed, was stopped or timed out
  2  wrong usage
  3  nothing could be checked, for example because no server answered, a level does not exist, or no test could be checked`;

const SVG = 'image/svg+xml';

/** `anima ghost picture <sessionId>`: the level with the ghost's path through it. */
const pictureCommand = (terminal: Terminal): Command =>
  new Command('picture')
    .description("draw the level with the ghost's path and its findings, as SVG")
    .addArgument(sessionArgument())
    .requiredOption('--out <file>', 'write to this file, for example ghost.svg')
    .action(async (sessionId: string, { out }: { readonly out: string }) => {
      if (/\.(?:png|jpe?g|gif|webp)$/i.test(out))
        throw new WrongUsage(
          `The picture is an SVG: name the file .svg, not ${out}. For a PNG, request /ghost/${sessionId}/picture?format=png.`,
        );
      const request = await openClient(terminal);
      const path = `/ghost/${encodeURIComponent(sessionId)}/picture`;
      const picture = (await request('GET', path, undefined, { accept: SVG })) as string;
      await writeTyped(terminal, out, picture);
      remark(terminal, `Wrote the picture of ${sessionId} to ${out}.`);
    });

export const ghostCommand = (terminal: Terminal): Command =>
  new Command('ghost')
    .description('test levels with headless NPCs')
    .addHelpText(
      'after',
      EXIT_CODES +
        '\n' +
        examples(
          'ghost run --level cellar --seed 7 --follow --junit ghost.xml',
          'ghost history',
          'ghost results <sessionId>',
        ),
    )
    .addCommand(runGhostCommand(terminal))
    .addCommand(statusCommand(terminal))
    .addCommand(resultsCommand(terminal))
    .addCommand(stopCommand(terminal))
    .addCommand(historyCommand(terminal))
    .addCommand(pictureCommand(terminal))
    .addCommand(reproCommand(terminal))
    .addCommand(replayCommand(terminal))
    .addCommand(compareCommand(terminal));
