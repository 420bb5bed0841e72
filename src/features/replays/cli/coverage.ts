import { Command } from 'commander';

import { useOf } from '../domain/rule-coverage.js';
import { defined } from '../../../kernel/base/defined.js';
import type { CoverageAnswer } from '../http/coverage.js';
import { openClient } from '../../../cli/shared/client.js';
import { sinceOf, untilOf } from '../../../cli/shared/since.js';
import { print, printJson, remark, table, type Terminal } from '../../../cli/shared/terminal.js';
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

const HEADER = ['RULE', 'USE', 'FIRED', 'DECIDED', 'SHADOWED', 'NAME'];

/** The counts of two pages added up. */
const added = (one: CoveragePage, other: CoveragePage): CoveragePage => ({
  ...one,
  decisions: one.decisions + other.decisions,
  rules: one.rules.map((rule) => {
    const more = other.rules.find(({ drRuleId }) => drRuleId === rule.drRuleId);
    const sum = (name: 'fired' | 'decided' | 'shadowed'): number => rule[name] + (more?.[name] ?? 0);
    return { ...rule, fired: sum('fired'), decided: sum('decided'), shadowed: sum('shadowed') };
  }),
});

const rowOf = (rule: CoveragePage['rules'][number]): readonly string[] => [
  ...[rule.drRuleId, useOf(rule), String(rule.fired), String(rule.decided), String(rule.shadowed), rule.ruleName],
];

const show = async (
  terminal: Terminal,
  rulesetId: string,
  { since, until, npc: npcId, replay: replayId, version, json }: CoverageOptions,
): Promise<void> => {
  const request = await openClient(terminal);
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
  const decisions = `${String(whole.decisions)} decision${whole.decisions === 1 ? '' : 's'}`;
  const { version: by, rulesetId: of } = whole;
  remark(terminal, by === null ? `${decisions} of the replay.` : `${decisions} by version ${String(by)} of ${of}.`);
};

/** `anima coverage <rulesetId>`: what each rule of a set did in the decisions that were recorded. */
export const coverageCommand = (terminal: Terminal): Command =>
  new Command('coverage')
    .description('show what each rule of a set did: decided, shadowed, fired, or never matched')
    .argument('<rulesetId>')
    .option('--since <time>', 'only from this time on, or so long ago: 30m, 12h, 7d', sinceOf(Date.now))
    .option('--until <time>', 'only up to this time', untilOf(Date.now))
    .option('--npc <npcId>', 'only the decisions of this NPC')
    .option('--replay <replayId>', 'the decisions of this replay or trial; it goes alone')
    .option('--version <n>', 'this version of the set; without it the latest', wholeFrom(0))
    .option('--json', 'print each page as a line of JSON')
    .action((rulesetId: string, options: CoverageOptions) => show(terminal, rulesetId, options));
