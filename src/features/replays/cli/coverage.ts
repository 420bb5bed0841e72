import { Command } from 'commander';

import { useOf } from '../domain/rule-coverage.js';
import { defined } from '../../../kernel/base/defined.js';
import type { CoverageAnswer } from '../http/coverage.js';
import { openClient } from '../../../cli/shared/client.js';
import { namingRulesets } from '../../../cli/shared/known-rulesets.js';
import { examples, jsonOption, sinceOption, untilOption } from '../../../cli/shared/options.js';
import { print, printJson, remark, table, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';
import { counted } from '../../../cli/shared/text.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

type CoveragePage = (typeof CoverageAnswer)['static'];
type CoverageOptions = {
  readonly since?: string;
  readonly until?: string;
  readonly npc?: string;
  readonly replay?: string;
  readonly version?: number;
  readonly json?: true;
};

const HEADER = ['RULE', 'USE', 'FIRED', 'DECIDED', 'SHADOWED', 'ERRORS', 'NAME'];

/** The sum of the counts of two pages. */
const added = (one: CoveragePage, other: CoveragePage): CoveragePage => ({
  ...one,
  decisions: one.decisions + other.decisions,
  rules: one.rules.map((rule) => {
    const more = other.rules.find(({ drRuleId }) => drRuleId === rule.drRuleId);
    const sum = (name: 'fired' | 'decided' | 'shadowed' | 'errors'): number => rule[name] + (more?.[name] ?? 0);
    return { ...rule, fired: sum('fired'), decided: sum('decided'), shadowed: sum('shadowed'), errors: sum('errors') };
  }),
});

const rowOf = (rule: CoveragePage['rules'][number]): readonly string[] => [
  ...[rule.drRuleId, useOf(rule)],
  ...[rule.fired, rule.decided, rule.shadowed, rule.errors].map(String),
  rule.ruleName,
];

const show = async (
  terminal: Terminal,
  rulesetId: string,
  { since, until, npc: npcId, replay: replayId, version, json }: CoverageOptions,
): Promise<void> => {
  if (replayId !== undefined && [since, until, npcId, version].some((filter) => filter !== undefined))
    throw new WrongUsage('--replay cannot be combined with --since, --until, --npc or --version.');
  const request = namingRulesets(await openClient(terminal));
  const asked = defined({
    since,
    until,
    npcId,
    replayId,
    version: version === undefined ? undefined : String(version),
  });
  let whole: CoveragePage | null = null;
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const query = new URLSearchParams({ ...asked, ...(cursor === '' ? {} : { cursor }) }).toString();
    const page = (await request('GET', `/rules/${encodeURIComponent(rulesetId)}/coverage?${query}`)) as CoveragePage;
    if (json) printJson(terminal, page);
    whole = whole === null ? page : added(whole, page);
    cursor = page.next;
  }
  if (whole === null || json) return;
  for (const line of table([HEADER, ...whole.rules.map(rowOf)])) print(terminal, line);
  const decisions = counted(whole.decisions, 'decision', 'decisions');
  const { version: by, rulesetId: of } = whole;
  remark(terminal, by === null ? `${decisions} in this replay.` : `${decisions} under version ${String(by)} of ${of}.`);
};

/** `anima coverage <rulesetId>`: how often each rule of a ruleset matched and decided in recorded decisions. */
export const coverageCommand = (terminal: Terminal): Command =>
  new Command('coverage')
    .description('count how often each rule of a ruleset fired, decided or was shadowed, and show which never matched')
    .argument('<rulesetId>', 'ID of the ruleset')
    .addOption(sinceOption())
    .addOption(untilOption())
    .option('--npc <npcId>', 'only decisions of this NPC')
    .option(
      '--replay <replayId>',
      'count the decisions of this replay or trial instead of recorded ones (not together with the other filters)',
    )
    .option('--version <n>', 'version of the ruleset (default: the latest)', wholeFrom(0))
    .addOption(jsonOption('page'))
    .addHelpText('after', examples('coverage default --since 7d'))
    .action((rulesetId: string, options: CoverageOptions) => show(terminal, rulesetId, options));
