import { Command, InvalidArgumentError, Option } from 'commander';

import { differenceKinds } from '../domain/difference-kinds.js';
import { defined } from '../../../kernel/base/defined.js';
import { isObject } from '../../../kernel/base/json.js';
import { openClient } from '../../../cli/shared/client.js';
import { readJsonFile } from '../../../cli/shared/files.js';
import { followTo } from '../../../cli/shared/follow.js';
import { JudgedNo, judging } from '../../../cli/shared/judging.js';
import { progressBar } from '../../../cli/shared/progress.js';
import { bySeverity, replayLines, type ReplayView, sampleLines } from './replay-text.js';
import { sinceOf, untilOf } from '../../../cli/shared/since.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

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

/** How often a replay is looked at, in milliseconds. */
const LOOK_MS = 1_000;
const PERCENT = 100;
const AWAY = 'The server does not answer; the replay goes on when it is back. Waiting ...';

/**
 * Asks for a replay and follows it to its end, with its progress on stderr.
 * @throws CommandFailed when it is refused, cannot go on, is cancelled, or an NPC that was named has no history
 */
const replayToEnd = async (terminal: Terminal, path: string, body: object): Promise<ReplayView> => {
  const request = await openClient(terminal);
  const { replayId } = (await request('POST', path, body)) as ReplayView;
  remark(terminal, `Replay ${replayId}.`);
  const bar = progressBar(terminal);
  const replay = await followTo<ReplayView>(request, `/replays/${replayId}`, {
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
const requireJudged = ({ turns }: ReplayView): void => {
  if (turns.checked > 0) return;
  throw new CommandFailed(
    turns.skipped > 0
      ? 'Nothing was judged: every turn was skipped.'
      : 'Nothing was judged: no decision is recorded that fits. Look at --since, --until, --instead and the NPCs that you named.',
  );
};

/** From when on decisions are taken again. */
const sinceOption = (): Option =>
  new Option('--since <time>', 'only decisions from this time on, or 7d, 12h, 30m ago').argParser(sinceOf(Date.now));

/** Up to when they are. */
const untilOption = (): Option =>
  new Option('--until <time>', 'only decisions up to this time').argParser(untilOf(Date.now));

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

/** `anima replay`: re-evaluates decisions under the rules in force at the time. */
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

type Limits = ReadonlyMap<string, number>;
type TrialOptions = {
  readonly since?: string;
  readonly until?: string;
  readonly instead?: string;
  readonly turn?: string;
  readonly failOn?: Limits;
  readonly samples: number;
  readonly json?: boolean;
};

const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
/** What `--fail-on` counts, by its name there. */
const countable: Limits = new Map([...differenceKinds, 'different', 'skipped'].map((name, at) => [dashed(name), at]));

/** Reads `newly-refused=0,newly-allowed=5`: how many of each there may be. */
const limitsFrom = (text: string): Limits =>
  new Map(
    text.split(',').map((part) => {
      const [, name = '', most = ''] = /^([a-z-]+)=(\d{1,9})$/.exec(part) ?? [];
      if (countable.has(name)) return [name, Number(most)];
      throw new InvalidArgumentError(
        `It must be a list such as newly-refused=0,newly-allowed=5, of ${[...countable.keys()].join(', ')}.`,
      );
    }),
  );

const countsOf = ({ differences, turns }: ReplayView): ReadonlyMap<string, number> =>
  new Map(
    Object.entries({ ...differences, different: turns.different, skipped: turns.skipped }).map(([name, count]) => [
      dashed(name),
      count,
    ]),
  );

/** @throws JudgedNo naming what there is too much of */
const requireWithin = (done: ReplayView, limits: Limits): void => {
  const counts = countsOf(done);
  const beyond = [...limits].flatMap(([name, most]) => {
    const count = counts.get(name) ?? 0;
    return count > most ? [`${name} ${String(count)} (at most ${String(most)})`] : [];
  });
  if (beyond.length > 0) throw new JudgedNo(`The trial failed: ${beyond.join(', ')}.`);
};

/** What the gravest difference of a turn means, in words. */
const turnAnswers: Readonly<Record<string, string>> = {
  newlyRefused: 'It would be refused.',
  newlyAllowed: 'It would be allowed.',
  otherAction: 'It would do something else.',
  otherState: 'It would change something else.',
  otherReason: 'It would be refused again, for another reason.',
};

/** Whether one turn would come out otherwise. */
const turnLines = (done: ReplayView, turnId: string): readonly string[] => {
  if (done.turns.skipped > 0) return replayLines(done, 0);
  if (done.turns.checked === 0) throw new CommandFailed(`This NPC has no turn ${turnId}.`);
  const samples = bySeverity(done.samples);
  const [gravest] = samples;
  if (gravest === undefined) return ['It would come out the same.'];
  const answer = turnAnswers[gravest.kind] ?? 'The same words of the model would come out the same.';
  return [answer, ...samples.flatMap(sampleLines)];
};

const trial = async (
  terminal: Terminal,
  file: string,
  npcIds: readonly string[],
  { since, until, instead, turn, failOn, samples, json = false }: TrialOptions,
): Promise<void> => {
  const rules = await readJsonFile(terminal, file);
  // The server takes a set without any rule: a file that was mistaken for one would pass every trial.
  if (!isObject(rules) || !Array.isArray(rules['rulesetRules']))
    throw new CommandFailed(`${file} is no rule set: it has no list "rulesetRules".`);
  const [only] = npcIds;
  if (turn !== undefined && (only === undefined || npcIds.length > 1))
    throw new CommandFailed('--turn is about a turn of one NPC: name it.');
  const done =
    turn !== undefined && only !== undefined
      ? await replayToEnd(terminal, `/npcs/${encodeURIComponent(only)}/replays`, { rules, turnId: turn })
      : await replayToEnd(terminal, '/replays', {
          ...{ rules, ...defined({ since, until, instead }) },
          ...(npcIds.length === 0 ? {} : { npcIds }),
        });
  if (json) printJson(terminal, done);
  else {
    const lines = turn === undefined ? replayLines(done, samples) : turnLines(done, turn);
    for (const line of lines) print(terminal, line);
  }
  requireWithin(done, failOn ?? new Map());
  requireJudged(done);
};

/** `anima trial`: tries unregistered rules on recorded turns. */
export const trialCommand = (terminal: Terminal): Command =>
  new Command('trial')
    .description('try rules on what NPCs have done: what they would refuse, allow and change')
    .argument('<rules.json>', 'a rule set as POST /rules takes it; it is not registered')
    .argument('[npcId...]', 'NPCs; without any, all of the studio')
    .addOption(sinceOption())
    .addOption(untilOption())
    .option('--instead <rulesetId>', 'only decisions that were made by these rules')
    .option('--turn <turnId>', 'only this turn of one NPC: would it come out the same?')
    .option('--fail-on <list>', 'fail if there are more, for example newly-refused=0,newly-allowed=0', limitsFrom)
    .option('--samples <n>', 'print at most this many differences', wholeFrom(0), SHOWN_BY_DEFAULT)
    .option('--json', 'print the whole result as a line of JSON')
    .action(
      judging((file: string, npcIds: readonly string[], options: TrialOptions) =>
        trial(terminal, file, npcIds, options),
      ),
    );
