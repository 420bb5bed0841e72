import { Command } from 'commander';

import { defined } from '../domain/shared/defined.js';
import { judging, JudgedNo } from './judging.js';
import { replayToEnd, requireJudged, sinceOption, untilOption } from './replay-run.js';
import { replayLines } from './replay-text.js';
import { CommandFailed, print, printJson, type Terminal } from './terminal.js';
import { wholeFrom } from './whole-from.js';

/** How many samples are printed by default. */
export const SHOWN_BY_DEFAULT = 10;

type ReplaysOptions = {
  readonly since?: string;
  readonly until?: string;
  readonly from?: number;
  readonly to?: number;
  readonly samples: number;
  readonly json?: boolean;
};

const replay = async (terminal: Terminal, npcIds: readonly string[], options: ReplaysOptions): Promise<void> => {
  const { since, until, from, to, samples, json = false } = options;
  const isRange = from !== undefined || to !== undefined;
  const [only] = npcIds;
  if (isRange && (only === undefined || npcIds.length > 1 || since !== undefined || until !== undefined))
    throw new CommandFailed('--from and --to are about one NPC, and do not go with --since and --until.');
  const done =
    isRange && only !== undefined
      ? await replayToEnd(
          terminal,
          `/npcs/${encodeURIComponent(only)}/replays`,
          defined({ fromRevision: from, toRevision: to }),
        )
      : await replayToEnd(terminal, '/replays', {
          ...(npcIds.length === 0 ? {} : { npcIds }),
          ...defined({ since, until }),
        });
  if (json) printJson(terminal, done);
  else for (const line of replayLines(done, samples)) print(terminal, line);
  if (done.turns.different > 0) throw new JudgedNo('Not everything comes out as it was recorded.');
  requireJudged(done);
};

/** `anima replay`: takes decisions again by the rules of then (contract 10.3). */
export const replaysCommand = (terminal: Terminal): Command =>
  new Command('replay')
    .description('take every decision again from what was recorded; fail if anything comes out otherwise')
    .argument('[npcId...]', 'NPCs; without any, all of the studio')
    .addOption(sinceOption())
    .addOption(untilOption())
    .option('--from <revision>', 'only from this revision of one NPC on', wholeFrom(0))
    .option('--to <revision>', 'only up to this revision of one NPC', wholeFrom(0))
    .option('--samples <n>', 'print at most this many differences', wholeFrom(0), SHOWN_BY_DEFAULT)
    .option('--json', 'print the whole result as a line of JSON')
    .action(judging((npcIds: readonly string[], options: ReplaysOptions) => replay(terminal, npcIds, options)));
