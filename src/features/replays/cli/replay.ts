import { Argument, Command, InvalidArgumentError, Option } from 'commander';

import { differenceKinds } from '../domain/difference-kinds.js';
import { defined } from '../../../kernel/base/defined.js';
import { openClient } from '../../../cli/shared/client.js';
import { followTo } from '../../../cli/shared/follow.js';
import { JudgedNo, judging } from '../../../cli/shared/judging.js';
import { namingRulesets } from '../../../cli/shared/known-rulesets.js';
import { progressBar } from '../../../cli/shared/progress.js';
import { readRulesetFile } from '../../../cli/shared/ruleset-file.js';
import { bySeverity, numbered, replayLines, type ReplayView, sampleLines } from './replay-text.js';
import { examples, jsonOption, sinceOption, untilOption } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, remark, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';
import { counted } from '../../../cli/shared/text.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

export const SHOWN_BY_DEFAULT = 10;

type ReplaysOptions = {
  readonly since?: string;
  readonly until?: string;
  readonly from?: number;
  readonly to?: number;
  readonly samples: number;
  readonly json?: boolean;
};

/** Milliseconds between two polls. */
const LOOK_MS = 1_000;
const AWAY = 'The server does not answer. The replay continues when the server is back. Waiting ...';

/**
 * Starts a replay and follows it to its end, with progress on stderr.
 * @throws CommandFailed when it is refused, fails or is cancelled, or when a named NPC does not exist
 */
const replayToEnd = async (terminal: Terminal, path: string, body: object): Promise<ReplayView> => {
  const request = namingRulesets(await openClient(terminal));
  const { replayId } = (await request('POST', path, body)) as ReplayView;
  remark(terminal, `${'rules' in body ? 'Trial' : 'Replay'} ${replayId}.`);
  const bar = progressBar(terminal);
  const replay = await followTo<ReplayView>(request, `/replays/${replayId}`, {
    every: LOOK_MS,
    away: () => remark(terminal, AWAY),
    seen: ({ status, progress, turns }) => {
      bar.update(progress, 1, numbered(turns.checked, 'turn', 'turns'));
      return status !== 'running';
    },
  }).finally(() => bar.end());
  if (replay.status === 'failed') throw new CommandFailed(replay.reason ?? 'The replay failed.');
  if (replay.status !== 'completed') throw new CommandFailed(`The replay was ${replay.status}.`);
  // A misspelt name must not pass.
  if (replay.unknown.length > 0)
    throw new CommandFailed(
      `${replay.unknown.length === 1 ? 'This NPC does' : 'These NPCs do'} not exist: ${replay.unknown.join(', ')}.`,
    );
  return replay;
};

/** A misspelt time, ruleset or turn must not pass either. @throws CommandFailed when no decision was checked */
const requireJudged = ({ turns }: ReplayView): void => {
  if (turns.checked > 0) return;
  throw new CommandFailed(
    turns.skipped > 0
      ? 'Nothing could be checked: every turn was skipped.'
      : 'Nothing could be checked: no recorded decision matches. Check --since, --until, --instead and the NPC IDs.',
  );
};

/** What was not judged has not passed. @throws CommandFailed for minds that were set aside, and for `skipped` turns */
const requireWhole = ({ setAside }: ReplayView, skipped: number): void => {
  const missing = [
    ...(skipped === 0 ? [] : [`${counted(skipped, 'turn was', 'turns were')} skipped`]),
    ...(setAside === undefined ? [] : [`${counted(setAside.minds, 'history was', 'histories were')} set aside`]),
  ];
  if (missing.length > 0)
    throw new CommandFailed(`Not everything could be checked: ${missing.join(', ')}, as named in the result.`);
};

const samplesOption = (): Option =>
  new Option('--samples <n>', 'print at most this many differences').argParser(wholeFrom(0)).default(SHOWN_BY_DEFAULT);
const npcIdsArgument = (): Argument => new Argument('[npcId...]', 'IDs of the NPCs (default: all NPCs)');

const replay = async (terminal: Terminal, npcIds: readonly string[], options: ReplaysOptions): Promise<void> => {
  const { since, until, from, to, samples, json = false } = options;
  const isRange = from !== undefined || to !== undefined;
  const [only] = npcIds;
  if (isRange && (only === undefined || npcIds.length > 1 || since !== undefined || until !== undefined))
    throw new WrongUsage('--from and --to need exactly one NPC, and cannot be combined with --since or --until.');
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
  if (done.turns.different > 0)
    throw new JudgedNo(`${counted(done.turns.different, 'turn differs', 'turns differ')} from the record.`);
  requireJudged(done);
  requireWhole(done, done.turns.skipped);
};

/** `anima replay`: re-evaluates decisions under the rules in force at the time. */
export const replaysCommand = (terminal: Terminal): Command =>
  new Command('replay')
    .description('re-evaluate recorded decisions under the rules in force at the time; fail if any result differs')
    .addArgument(npcIdsArgument())
    .addOption(sinceOption())
    .addOption(untilOption())
    .option('--from <revision>', 'start at this revision (needs exactly one NPC)', wholeFrom(0))
    .option('--to <revision>', 'end at this revision (needs exactly one NPC)', wholeFrom(0))
    .addOption(samplesOption())
    .addOption(jsonOption())
    .action(judging((npcIds: readonly string[], options: ReplaysOptions) => replay(terminal, npcIds, options)))
    .addHelpText('after', examples('replay', 'replay mira --since 7d'));

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
/** The counts that `--fail-on` can limit. */
const countable: Limits = new Map(
  [...differenceKinds, 'byLogic', 'different', 'skipped'].map((name, at) => [dashed(name), at]),
);

/** Parses `newly-refused=0,newly-allowed=5`: the largest allowed count of each. */
const limitsFrom = (text: string): Limits =>
  new Map(
    text.split(',').map((part) => {
      const [, name = '', most = ''] = /^([a-z-]+)=(\d{1,9})$/.exec(part) ?? [];
      if (countable.has(name)) return [name, Number(most)];
      throw new InvalidArgumentError(
        `It must be a list such as newly-refused=0,newly-allowed=5. The counts are ${[...countable.keys()].join(', ')}.`,
      );
    }),
  );

const countsOf = ({ differences, byLogic, turns }: ReplayView): ReadonlyMap<string, number> =>
  new Map(
    Object.entries({
      ...differences,
      byLogic: byLogic?.decisions ?? 0,
      different: turns.different,
      skipped: turns.skipped,
    }).map(([name, count]) => [dashed(name), count]),
  );

/** @throws JudgedNo naming each count over its limit */
const requireWithin = (done: ReplayView, limits: Limits): void => {
  const counts = countsOf(done);
  const beyond = [...limits].flatMap(([name, most]) => {
    const count = counts.get(name) ?? 0;
    return count > most ? [`${name} ${String(count)} (at most ${String(most)})`] : [];
  });
  if (beyond.length > 0) throw new JudgedNo(`The trial failed: ${beyond.join(', ')}.`);
};

/** The outcome of a turn, by its gravest difference. */
const turnAnswers: Readonly<Record<string, string>> = {
  newlyRefused: 'The turn would be refused.',
  newlyAllowed: 'The turn would be allowed.',
  otherAction: 'The NPC would act differently.',
  otherState: 'The turn would change the state differently.',
  otherReason: 'The turn would still be refused, for a different reason.',
};

const turnLines = (done: ReplayView, turnId: string): readonly string[] => {
  if (done.turns.skipped > 0) return replayLines(done, 0);
  if (done.turns.checked === 0) throw new CommandFailed(`This NPC has no turn ${turnId}.`);
  const samples = bySeverity(done.samples);
  const [gravest] = samples;
  if (gravest === undefined) return ['The outcome would be the same.'];
  const answer =
    turnAnswers[gravest.kind] ??
    'The model would get a different request; its recorded answer would have the same outcome.';
  return [answer, ...samples.flatMap(sampleLines)];
};

const trial = async (
  terminal: Terminal,
  file: string,
  npcIds: readonly string[],
  { since, until, instead, turn, failOn, samples, json = false }: TrialOptions,
): Promise<void> => {
  const rules = await readRulesetFile(terminal, file);
  // The server accepts a ruleset without rules, so any other JSON file would pass every trial.
  if (!Array.isArray(rules['rulesetRules']))
    throw new CommandFailed(`${file} is not a ruleset: it has no list "rulesetRules".`);
  const [only] = npcIds;
  if (turn !== undefined && (only === undefined || npcIds.length > 1))
    throw new WrongUsage('--turn needs exactly one NPC.');
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
  // A trial tells what it skipped, and --fail-on can limit it.
  requireWhole(done, 0);
};

/** `anima trial`: tries unregistered rules on recorded turns. */
export const trialCommand = (terminal: Terminal): Command =>
  new Command('trial')
    .description('try rules on recorded turns, without registering them: what would be refused, allowed or changed')
    .argument('<file>', 'ruleset in JSON, as for POST /rules')
    .addArgument(npcIdsArgument())
    .addOption(sinceOption())
    .addOption(untilOption())
    .option('--instead <rulesetId>', 'only decisions made under this ruleset')
    .option('--turn <turnId>', 'only this turn (needs exactly one NPC)')
    .option(
      '--fail-on <list>',
      'fail if a count exceeds its limit, for example newly-refused=0,newly-allowed=0',
      limitsFrom,
    )
    .addOption(samplesOption())
    .addOption(jsonOption())
    .action(
      judging((file: string, npcIds: readonly string[], options: TrialOptions) =>
        trial(terminal, file, npcIds, options),
      ),
    )
    .addHelpText('after', examples('trial rules.json --since 7d', 'trial rules.json mira --fail-on newly-refused=0'));
