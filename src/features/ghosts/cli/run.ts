import { Command, Option } from 'commander';

import type { MindRequest } from '../../../body/mind-request.js';
import type { Finding } from '../domain/findings.js';
import { ghostGoals } from '../domain/policy.js';
import { type GhostDriver, ghostDrivers } from '../domain/events.js';
import { defined } from '../../../kernel/base/defined.js';
import { openClient } from '../../../cli/shared/client.js';
import { followTo } from '../../../cli/shared/follow.js';
import { allOption, requirePassed, requireWritable, showResults } from './show.js';
import { type GhostResults, isShown } from './ghost-text.js';
import { judging } from '../../../cli/shared/judging.js';
import { examples, jsonOption, junitOption } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, remark, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';
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
  `The session waits for your game to send its turns to POST /ghost/${id}/process (docs/how-to/attach-your-game.md).`;
/** One day. */
const LONGEST_SECONDS = 86_400;
const AWAY = 'The server does not answer. The session continues when the server is back. Waiting ...';

/** A misspelt level must not pass. @throws CommandFailed when the level does not exist */
const requireLevel = async (request: MindRequest, level: string): Promise<void> => {
  try {
    await request('GET', `/levels/${encodeURIComponent(level)}`);
  } catch (error) {
    if (!(error instanceof CommandFailed) || error.code !== 'LEVEL_NOT_FOUND') throw error;
    throw new CommandFailed(
      `Level ${level} does not exist. Pass --generate to generate it from its name and the seed.`,
    );
  }
};

/** Milliseconds between two polls. */
const LOOK_MS = 2_000;

/** `found` is called once per finding, `away` once per outage of the server. */
type FollowGhost = { readonly found: (finding: Finding) => void; readonly away: () => void };

/**
 * Follows a session to its end and reports each finding once.
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
  if (junit !== undefined && !follow)
    throw new WrongUsage('--junit needs --follow: without it, the command returns before any results exist.');
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
    // Without their numbers, which can still change: findings about the level itself come first.
    found: ({ kind, subject, detail }) => {
      if (!json && (all || isShown({ kind }))) remark(terminal, `found ${kind} ${subject}: ${detail}`);
    },
    away: () => remark(terminal, AWAY),
  });
  await showResults(terminal, results, { json, all, ...defined({ junit }) });
  requirePassed(results);
};

/** `anima ghost run`: starts a session, and with `--follow` waits for its results. */
export const runGhostCommand = (terminal: Terminal): Command =>
  new Command('run')
    .description('start a ghost session in a level; with --follow, wait for its results and fail unless it passes')
    .option('--level <levelId>', 'level to play (default: the first built-in level)')
    .option('--generate', 'generate the level from its name and the seed if no level with that name exists')
    .addOption(new Option('--goal <goal>', 'goal of the ghost').choices([...ghostGoals]).default('find_bugs'))
    .option('--seed <n>', 'random seed; the same seed plays the same session (default: a random one)', wholeFrom(0))
    .option('--engine <name>', 'let a model play instead of the built-in policy (name of an engine or of its model)')
    .option('--steps <n>', 'maximum number of steps (default: depends on the goal and the level)', wholeFrom(1))
    .option('--timeout <seconds>', 'time limit in seconds', wholeFrom(1, LONGEST_SECONDS), DEFAULT_SECONDS)
    .addOption(
      new Option('--driver <driver>', 'who plays the level: "local" for the server, "remote" for your own game')
        .choices([...ghostDrivers])
        .default('local'),
    )
    .option('--follow', 'print findings as they appear, and wait until the session ends')
    .addOption(junitOption())
    .addOption(allOption())
    .addOption(jsonOption())
    .action(judging((options: RunOptions) => run(terminal, options)))
    .addHelpText(
      'after',
      examples(
        'ghost run --level cellar --goal complete_level --follow',
        'ghost run --level market --seed 7 --follow --junit ghost.xml',
      ),
    );
