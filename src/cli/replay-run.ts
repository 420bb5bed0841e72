import { Option } from 'commander';

import { openClient } from './client.js';
import { followTo } from './follow.js';
import { progressBar } from './progress.js';
import type { ReplayShown } from './replay-text.js';
import { CommandFailed, remark, type Terminal } from './terminal.js';
import { sinceOf, untilOf } from './since.js';

/** How often a replay is looked at, in milliseconds. */
const LOOK_MS = 1_000;
const PERCENT = 100;
const AWAY = 'The server does not answer; the replay goes on when it is back. Waiting ...';

/**
 * Asks for a replay and follows it to its end, with its progress on stderr.
 * @throws CommandFailed when it is refused, cannot go on, is cancelled, or an NPC that was named has no history
 */
export const replayToEnd = async (terminal: Terminal, path: string, body: object): Promise<ReplayShown> => {
  const request = await openClient(terminal);
  const { replayId } = (await request('POST', path, body)) as ReplayShown;
  remark(terminal, `Replay ${replayId}.`);
  const bar = progressBar(terminal);
  const replay = await followTo<ReplayShown>(request, `/replays/${replayId}`, {
    every: LOOK_MS,
    away: () => remark(terminal, AWAY),
    seen: ({ status, progress }) => {
      bar.update(Math.floor(progress * PERCENT), PERCENT);
      return status !== 'running';
    },
  }).finally(() => bar.end());
  if (replay.status === 'failed') throw new CommandFailed(replay.reason ?? 'The replay could not go on.');
  if (replay.status !== 'completed') throw new CommandFailed(`The replay was ${replay.status}.`);
  // A name that was mistyped must not be a replay without differences.
  if (replay.unknown.length > 0) throw new CommandFailed(`There is no NPC ${replay.unknown.join(', ')}.`);
  return replay;
};

/** A time, a rule set or a turn that was mistyped must not pass either. @throws CommandFailed when no decision was taken again */
export const requireJudged = ({ turns }: ReplayShown): void => {
  if (turns.checked > 0) return;
  throw new CommandFailed(
    turns.skipped > 0
      ? 'Nothing was judged: every turn was skipped.'
      : 'Nothing was judged: no decision is recorded that fits. Look at --since, --until, --instead and the NPCs that you named.',
  );
};

/** From when on decisions are taken again. */
export const sinceOption = (): Option =>
  new Option('--since <time>', 'only decisions from this time on, or 7d, 12h, 30m ago').argParser(sinceOf(Date.now));

/** Up to when they are. */
export const untilOption = (): Option =>
  new Option('--until <time>', 'only decisions up to this time').argParser(untilOf(Date.now));
