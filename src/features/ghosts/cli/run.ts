import { Command, Option } from 'commander';

import type { MindRequest } from '../../../body/mind-request.js';
import type { Finding } from '../domain/findings.js';
import { ghostGoals } from '../domain/policy.js';
import { type GhostDriver, ghostDrivers } from '../domain/events.js';
import { defined } from '../../../kernel/base/defined.js';
import { openClient } from '../../../cli/shared/client.js';
import { followTo } from '../../../cli/shared/follow.js';
import { allOption, junitOption, requirePassed, requireWritable, showResults } from './show.js';
import { type GhostResults, isShown } from './ghost-text.js';
import { judging } from '../../../cli/shared/judging.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

type RunOptions = {
  readonly level?: string;
  readonly generate?: boolean;
  readonly goal: string;
  readonly seed?: number;
  readonly engine?: string;
  readonly steps?: number;
  readonly timeout: number;
  readonly driver: GhostDriver;
  readonly follow?: boolean;
  readonly junit?: string;
  readonly all?: boolean;
  readonly json?: boolean;
};

/** The default of `POST /ghost/run`; a session in a pipeline needs more than the minute of `POST /v1/ghost/run`. */
const DEFAULT_SECONDS = 300;
const attachTo = (id: string): string =>
  `It waits for its body: your game sends its steps to POST /ghost/${id}/process (docs/how-to/attach-your-game.md).`;
/** One day. */
const LONGEST_SECONDS = 86_400;
const AWAY = 'The server does not answer; the session goes on when it is back. Waiting ...';

/** A name that was mistyped must not be a test that passes. @throws CommandFailed when there is no such level */
const requireLevel = async (request: MindRequest, level: string): Promise<void> => {
  try {
    await request('GET', `/levels/${encodeURIComponent(level)}`);
  } catch (error) {
    if (!(error instanceof CommandFailed) || error.code !== 'LEVEL_NOT_FOUND') throw error;
    throw new CommandFailed(`There is no level ${level}; with --generate it is made up from its name and the seed.`);
  }
};

/** How often a session is looked at, in milliseconds. */
const LOOK_MS = 2_000;

/** What is told on the way: each finding once, and that the server is away, once for each time. */
type FollowGhost = { readonly found: (finding: Finding) => void; readonly away: () => void };

/**
 * Follows a session to its end, and tells of each finding once.
 * @throws CommandFailed when the session is unknown, or the server stays away
 */
const followGhost = (request: MindRequest, sessionId: string, { found, away }: FollowGhost): Promise<GhostResults> => {
  const told = new Set<string>();
  return followTo<GhostResults>(request, `/ghost/${encodeURIComponent(sessionId)}/results`, {
    every: LOOK_MS,
    away,
    seen: (results) => {
      for (const finding of results.resultsFindings) {
        const name = `${finding.kind} ${finding.subject}`;
        if (!told.has(name)) found(finding);
        told.add(name);
      }
      return results.resultsPartial !== true;
    },
  });
};

const run = async (terminal: Terminal, options: RunOptions): Promise<void> => {
  const { level, generate = false, goal, seed, engine, steps, timeout, follow = false, junit, all = false } = options;
  const { driver, json = false } = options;
  if (junit !== undefined && !follow) throw new CommandFailed('--junit needs --follow: there are no results yet.');
  if (junit !== undefined) await requireWritable(terminal, junit);
  const request = await openClient(terminal);
  if (level !== undefined && !generate) await requireLevel(request, level);
  const asked = { goal, timeout: timeout * 1_000, driver, ...defined({ level, seed, steps, engine }) };
  const session = (await request('POST', '/v1/ghost/run', asked)) as { readonly id: string; readonly seed: number };
  if (!follow) {
    if (json) printJson(terminal, session);
    else print(terminal, `${session.id} (seed ${String(session.seed)})`);
    if (driver === 'remote') remark(terminal, attachTo(session.id));
    return;
  }
  remark(terminal, `Session ${session.id}, seed ${String(session.seed)}.`);
  if (driver === 'remote') remark(terminal, attachTo(session.id));
  const results = await followGhost(request, session.id, {
    // Without their numbers: what is found about the level as a whole may still come before them.
    found: ({ kind, subject, detail }) => {
      if (!json && (all || isShown({ kind }))) remark(terminal, `found ${kind} ${subject}: ${detail}`);
    },
    away: () => remark(terminal, AWAY),
  });
  await showResults(terminal, results, { json, all, ...defined({ junit }) });
  requirePassed(results);
};

/** `anima ghost run`: sends a ghost into a level, and with `--follow` waits for what it finds. */
export const runGhostCommand = (terminal: Terminal): Command =>
  new Command('run')
    .description('send a ghost into a level; with --follow wait for what it finds, and fail if a test fails')
    .option('--level <name>', 'a level; without it, the first one that comes with the server')
    .option('--generate', 'make the level up from its name and the seed if there is none of that name')
    .addOption(new Option('--goal <goal>', 'what it is after').choices([...ghostGoals]).default('find_bugs'))
    .option('--seed <n>', 'the same seed plays the same session', wholeFrom(0))
    .option(
      '--engine <name>',
      'a model that plays in place of the policy of the goal, by the name of its engine or its own',
    )
    .option('--steps <n>', 'how many steps it may take; without it, by goal and level', wholeFrom(1))
    .option('--timeout <seconds>', 'how long it may take', wholeFrom(1, LONGEST_SECONDS), DEFAULT_SECONDS)
    .addOption(
      new Option('--driver <driver>', 'who plays: this server, or a game of yours')
        .choices([...ghostDrivers])
        .default('local'),
    )
    .option('--follow', 'show findings as they come, and wait for the end')
    .addOption(junitOption())
    .addOption(allOption())
    .option('--json', 'print the session, or with --follow the results, as a line of JSON')
    .action(judging((options: RunOptions) => run(terminal, options)));
