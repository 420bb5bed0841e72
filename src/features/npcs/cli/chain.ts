import { Command } from 'commander';

import type { ChainBreaks } from '../http/chain-breaks.js';
import { openClient } from '../../../cli/shared/client.js';
import { CommandFailed, print, printJson, remark, table, type Terminal } from '../../../cli/shared/terminal.js';

type BreaksPage = (typeof ChainBreaks)['static'];
type ChainOptions = { readonly acknowledge?: true; readonly json?: true };

const counted = (count: number, word: string): string => `${String(count)} ${word}${count === 1 ? '' : 's'}`;

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

const check = async (terminal: Terminal, npcId: string, { acknowledge, json }: ChainOptions): Promise<void> => {
  const request = await openClient(terminal);
  const path = `/npcs/${encodeURIComponent(npcId)}/chain-breaks`;
  const ask = (from: number): Promise<unknown> =>
    acknowledge ? request('POST', path, { from }) : request('GET', `${path}?from=${String(from)}`);
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
      `${counted(breaks, 'break')} in ${counted(events, 'event')}, ${String(open)} of them not acknowledged. ` +
        'docs/operations.md says what to do.',
    );
  }
  if (json) return;
  if (breaks === 0) remark(terminal, `The hash chain is whole: ${counted(events, 'event')}, no break.`);
  else remark(terminal, `${counted(breaks, 'break')} in ${counted(events, 'event')}, all of them acknowledged.`);
};

/** `anima chain <npcId>`: whether a mind's hash chain is whole; exit code 1 while a break is not acknowledged. */
export const chainCommand = (terminal: Terminal): Command =>
  new Command('chain')
    .description("check an NPC's hash chain; the exit code is 1 while a break is not acknowledged")
    .argument('<npcId>')
    .option('--acknowledge', 'record the breaks in the history (needs a key with the scope ops)')
    .option('--json', 'print each page as a line of JSON')
    .action((npcId: string, options: ChainOptions) => check(terminal, npcId, options));
