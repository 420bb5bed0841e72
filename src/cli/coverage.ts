import { Command, InvalidArgumentError } from 'commander';

import { defined } from '../domain/shared/defined.js';
import { openClient } from './client.js';
import { print, printJson, remark, table, type Terminal } from './terminal.js';
import { wholeFrom } from './whole-from.js';

type CoverageLine = {
  readonly drRuleId: string;
  readonly ruleName: string;
  readonly fired: number;
  readonly decided: number;
  readonly shadowed: number;
};
type CoveragePage = {
  readonly rulesetId: string;
  readonly version: number;
  readonly decisions: number;
  readonly rules: readonly CoverageLine[];
  readonly next?: string;
};
type CoverageOptions = {
  readonly since?: string;
  readonly until?: string;
  readonly npc?: string;
  readonly version?: number;
  readonly json?: true;
};

const HEADER = ['RULE', 'USE', 'FIRED', 'DECIDED', 'SHADOWED', 'NAME'];

const spanMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** An RFC 3339 time as it is, or a time span before now such as `7d`, `12h` or `30m`. */
const momentAgo = (text: string): string => {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(Date.now() - Number(count) * (spanMs[unit] ?? 0)).toISOString();
  if (Number.isNaN(Date.parse(text))) {
    throw new InvalidArgumentError('It must be an RFC 3339 time, or a time span such as 7d, 12h or 30m.');
  }
  return text;
};

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

const useOf = ({ fired, decided, shadowed }: CoverageLine): string =>
  decided > 0 ? 'decided' : shadowed > 0 ? 'shadowed' : fired > 0 ? 'fired' : 'never';

const rowOf = (rule: CoverageLine): readonly string[] => [
  ...[rule.drRuleId, useOf(rule), String(rule.fired), String(rule.decided), String(rule.shadowed), rule.ruleName],
];

const show = async (
  terminal: Terminal,
  rulesetId: string,
  { since, until, npc: npcId, version, json }: CoverageOptions,
): Promise<void> => {
  const request = await openClient(terminal);
  const asked = defined({ since, until, npcId, version: version === undefined ? undefined : String(version) });
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
  remark(terminal, `${decisions} by version ${String(whole.version)} of ${whole.rulesetId}.`);
};

/** `anima coverage <rulesetId>`: what each rule of a set did in the decisions that were recorded. */
export const coverageCommand = (terminal: Terminal): Command =>
  new Command('coverage')
    .description('show what each rule of a set did: decided, shadowed, fired, or never matched')
    .argument('<rulesetId>')
    .option('--since <time>', 'only from this time on: RFC 3339, or 7d, 12h, 30m', momentAgo)
    .option('--until <time>', 'only up to this time', momentAgo)
    .option('--npc <npcId>', 'only the decisions of this NPC')
    .option('--version <n>', 'this version of the set; without it the latest', wholeFrom(0))
    .option('--json', 'print each page as a line of JSON')
    .action((rulesetId: string, options: CoverageOptions) => show(terminal, rulesetId, options));
