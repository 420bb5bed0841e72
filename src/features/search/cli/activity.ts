import { Argument, Command } from 'commander';

import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption, sinceOption, untilOption } from '../../../cli/shared/options.js';
import { print, printJson, table, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';
import { defined } from '../../../kernel/base/defined.js';

/** The parts of the answer that are shown here. */
type Activity = {
  readonly turns: number;
  readonly refusals: number;
  readonly buckets: readonly { readonly at: string; readonly turns: number; readonly refusals: number }[];
  readonly rules: readonly { readonly drRuleId: string; readonly refusals: number }[];
  readonly otherRefusals: number;
};
type ActivityOptions = {
  readonly since?: string;
  readonly until?: string;
  readonly step?: string;
  readonly buckets?: number;
  readonly json?: true;
};

const bucketRows = ({ buckets, turns, refusals }: Activity): readonly (readonly string[])[] => [
  ['FROM (UTC)', 'TURNS', 'REFUSALS'],
  ...buckets.map((one) => [one.at.slice(0, 16).replace('T', ' '), String(one.turns), String(one.refusals)]),
  ['total', String(turns), String(refusals)],
];

const ruleRows = ({ rules, otherRefusals }: Activity): readonly (readonly string[])[] => [
  ['RULE', 'REFUSALS'],
  ...rules.map(({ drRuleId, refusals }) => [drRuleId, String(refusals)]),
  ...(otherRefusals === 0 ? [] : [['by others, or by no rule', String(otherRefusals)]]),
];

const show = async (
  terminal: Terminal,
  npcId: string | undefined,
  { since, until, step, buckets, json }: ActivityOptions,
): Promise<void> => {
  // The counts of one NPC are divided into a number of buckets, those of all into buckets of one length.
  if (npcId !== undefined && step !== undefined)
    throw new WrongUsage('--step is for the counts of all NPCs. For one NPC, use --buckets.');
  if (npcId === undefined && buckets !== undefined)
    throw new WrongUsage('--buckets is for the counts of one NPC. For all NPCs, use --step.');
  const request = await openClient(terminal);
  const of = npcId === undefined ? '' : `/npcs/${encodeURIComponent(npcId)}`;
  const query = new URLSearchParams(defined({ from: since, to: until, step, buckets: buckets?.toString() }));
  const counted = (await request('GET', `${of}/activity?${query.toString()}`)) as Activity;
  if (json) {
    printJson(terminal, counted);
    return;
  }
  for (const line of table(bucketRows(counted))) print(terminal, line);
  if (counted.refusals === 0) return;
  print(terminal, '');
  for (const line of table(ruleRows(counted))) print(terminal, line);
};

/** `anima activity [npcId]`: how many turns and refusals there were, by time and by rule. */
export const activityCommand = (terminal: Terminal): Command =>
  new Command('activity')
    .description('count turns and refusals by time, and refusals by rule (scope audit)')
    .addArgument(new Argument('[npcId]', 'ID of the NPC (default: all NPCs)'))
    .addOption(sinceOption())
    .addOption(untilOption())
    .option('--step <length>', 'the length of a bucket: 1h to 23h, or days such as 1d (all NPCs; default: 1h)')
    .option('--buckets <n>', 'at most this many buckets (one NPC; default: 24)', wholeFrom(1))
    .addOption(jsonOption())
    .addHelpText('after', examples('activity', 'activity --since 30d --step 1d', 'activity mira --since 7d'))
    .action((npcId: string | undefined, options: ActivityOptions) => show(terminal, npcId, options));
