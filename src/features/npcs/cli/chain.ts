import { Command } from 'commander';

import type { ChainBreaks } from '../http/chain-breaks.js';
import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption, npcIdArgument } from '../../../cli/shared/options.js';
import {
  CommandFailed,
  print,
  printJson,
  remark,
  table,
  type Terminal,
  WrongUsage,
} from '../../../cli/shared/terminal.js';
import { defined } from '../../../kernel/base/defined.js';
import { counted } from '../../../cli/shared/text.js';

type BreaksPage = (typeof ChainBreaks)['static'];
type ChainOptions = { readonly acknowledge?: true; readonly reason?: string; readonly json?: true };

const HEADER = ['REVISION', 'MEMBER  ', 'STORED'.padEnd(64), 'COMPUTED'.padEnd(64), 'ACKNOWLEDGED'];

const rowOf = ({
  revision,
  member,
  stored,
  computed,
  acknowledged,
}: BreaksPage['breaks'][number]): readonly string[] => [
  String(revision),
  member,
  stored,
  computed,
  acknowledged ? 'yes' : 'no',
];

const check = async (terminal: Terminal, npcId: string, { acknowledge, reason, json }: ChainOptions): Promise<void> => {
  if (reason !== undefined && !acknowledge) throw new WrongUsage('--reason needs --acknowledge.');
  // The history keeps an acknowledgement for good, and a reason cannot be added later.
  if (acknowledge && (reason === undefined || reason.trim() === ''))
    throw new WrongUsage('--acknowledge needs --reason <text>: why the breaks are acknowledged.');
  const request = await openClient(terminal);
  const path = `/npcs/${encodeURIComponent(npcId)}/chain-breaks`;
  const ask = (from: number): Promise<unknown> =>
    acknowledge
      ? request('POST', path, { from, ...defined({ reason }) })
      : request('GET', `${path}?from=${String(from)}`);
  let [events, breaks, open] = [0, 0, 0];
  for (let from: number | undefined = 0; from !== undefined;) {
    const page = (await ask(from)) as BreaksPage;
    if (json) printJson(terminal, page);
    else if (page.breaks.length > 0) {
      const [header, ...rows] = table([HEADER, ...page.breaks.map(rowOf)]);
      for (const line of breaks === 0 && header !== undefined ? [header, ...rows] : rows) print(terminal, line);
    }
    events += page.events;
    breaks += page.breaks.length;
    open += page.breaks.filter(({ acknowledged }) => !acknowledged).length;
    from = page.next;
  }
  if (open > 0) {
    throw new CommandFailed(
      `The hash chain is broken: ${counted(breaks, 'break', 'breaks')} in ${counted(events, 'event', 'events')}, ${String(open)} not acknowledged. ` +
        'docs/operate/broken-chain.md says what to do.',
    );
  }
  if (json) return;
  if (breaks === 0) remark(terminal, `The hash chain is intact: ${counted(events, 'event', 'events')}, no breaks.`);
  else {
    const found = `${counted(breaks, 'break', 'breaks')} in ${counted(events, 'event', 'events')}, all acknowledged.`;
    const kept = acknowledge ? ' A break that was acknowledged before keeps its first reason.' : '';
    remark(terminal, found + kept);
  }
};

/** `anima chain <npcId>`: checks the hash chain of an NPC; exit code 1 while a break is not acknowledged. */
export const chainCommand = (terminal: Terminal): Command =>
  new Command('chain')
    .description('check the hash chain of an NPC; fail if any break is not acknowledged')
    .addArgument(npcIdArgument())
    .option('--acknowledge', 'acknowledge the breaks by recording them in the history (scope acknowledge)')
    .option('--reason <text>', 'why they are acknowledged, which --acknowledge needs; the audit shows it')
    .addOption(jsonOption('page'))
    .addHelpText('after', examples('chain mira', 'chain mira --acknowledge --reason "disk fault on 12 May"'))
    .action((npcId: string, options: ChainOptions) => check(terminal, npcId, options));
