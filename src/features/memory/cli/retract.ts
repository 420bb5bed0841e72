import { createInterface } from 'node:readline';
import { Command } from 'commander';

import type { RetractionAnswer } from '../http/lineage.js';
import { openClient } from '../../../cli/shared/client.js';
import { short } from '../../../cli/shared/text.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';

/** How much of a text is shown, in characters. */
const SHOWN = 120;

type Retraction = (typeof RetractionAnswer)['static'];
type RetractOptions = {
  readonly reason: string;
  readonly derived?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
};

const counted = (count: number): string => `${String(count)} ${count === 1 ? 'memory' : 'memories'}`;

const lineOf = ({ memoryId, text, derivedFrom }: Retraction['retracted'][number]): string =>
  `${memoryId}  "${short(text, SHOWN)}"${derivedFrom.length === 0 ? '' : `  derived from ${derivedFrom.join(', ')}`}`;

/** Whether somebody at the terminal says yes. */
const agrees = async ({ stdin, stderr }: Terminal, question: string): Promise<boolean> => {
  const lines = createInterface({ input: stdin, output: stderr, terminal: stdin.isTTY === true });
  try {
    stderr.write(`${question} [y/N] `);
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
};

const GONE_ALREADY = 'All of that is gone already.';

const retractFor = async (
  terminal: Terminal,
  npcId: string,
  memoryIds: readonly string[],
  { reason, derived = false, yes = false, json = false }: RetractOptions,
): Promise<void> => {
  const request = await openClient(terminal);
  const ask = async (dryRun: boolean): Promise<Retraction> =>
    (await request('POST', `/npcs/${encodeURIComponent(npcId)}/memory/retract`, {
      ...{ memoryIds, reason, derived, dryRun },
    })) as Retraction;
  if (!yes) {
    const { retracted } = await ask(true);
    if (retracted.length === 0) {
      remark(terminal, GONE_ALREADY);
      return;
    }
    for (const one of retracted) print(terminal, lineOf(one));
    if (terminal.stdin.isTTY !== true) {
      throw new CommandFailed(`Nothing was done: give --yes to take ${counted(retracted.length)} back.`);
    }
    if (!(await agrees(terminal, `Take ${counted(retracted.length)} back?`)))
      throw new CommandFailed('Nothing was done.');
  }
  const done = await ask(false);
  if (json) printJson(terminal, done);
  else if (yes) for (const one of done.retracted) print(terminal, lineOf(one));
  remark(terminal, done.retracted.length === 0 ? GONE_ALREADY : `${counted(done.retracted.length)} taken back.`);
};

/** `anima retract <npcId> <memoryId ...>`: takes memories back, after it has shown which ones. */
export const retractCommand = (terminal: Terminal): Command =>
  new Command('retract')
    .description('take memories back: they leave lists, recall and souls, and the history keeps them')
    .argument('<npcId>')
    .argument('<memoryId...>', '"anima memories --json" shows the ids')
    .requiredOption('--reason <text>', 'why, for the history')
    .option('--derived', 'also what was derived from them')
    .option('--yes', 'without showing and asking first')
    .option('--json', 'print what was taken back as a line of JSON')
    .action((npcId: string, memoryIds: readonly string[], options: RetractOptions) =>
      retractFor(terminal, npcId, memoryIds, options),
    );
