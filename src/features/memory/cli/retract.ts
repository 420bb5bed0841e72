import { createInterface } from 'node:readline';
import { Command } from 'commander';

import type { RetractionAnswer } from '../http/lineage.js';
import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption, npcIdArgument } from '../../../cli/shared/options.js';
import { counted, short } from '../../../cli/shared/text.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';

/** Texts are cut to this many characters. */
const SHOWN = 120;

type Retraction = (typeof RetractionAnswer)['static'];
type RetractOptions = {
  readonly reason: string;
  readonly derived?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
};

const memories = (count: number): string => counted(count, 'memory', 'memories');

const lineOf = ({ memoryId, text, derivedFrom }: Retraction['retracted'][number]): string =>
  `${memoryId}  "${short(text, SHOWN)}"${derivedFrom.length === 0 ? '' : `  derived from ${derivedFrom.join(', ')}`}`;

/** Asks a yes-or-no question at the terminal. */
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

const ALREADY_RETRACTED = 'Those memories have already been retracted.';

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
      remark(terminal, ALREADY_RETRACTED);
      return;
    }
    for (const one of retracted) print(terminal, lineOf(one));
    if (terminal.stdin.isTTY !== true) {
      throw new CommandFailed(`Nothing was changed. Pass --yes to retract ${memories(retracted.length)}.`);
    }
    if (!(await agrees(terminal, `Retract ${memories(retracted.length)}?`)))
      throw new CommandFailed('Nothing was changed.');
  }
  const done = await ask(false);
  if (json) printJson(terminal, done);
  else if (yes) for (const one of done.retracted) print(terminal, lineOf(one));
  remark(terminal, done.retracted.length === 0 ? ALREADY_RETRACTED : `Retracted ${memories(done.retracted.length)}.`);
};

/** `anima retract <npcId> <memoryId...>`: lists the memories, asks, and retracts them. */
export const retractCommand = (terminal: Terminal): Command =>
  new Command('retract')
    .description('retract memories: they are no longer listed, recalled or exported, but the history keeps them')
    .addArgument(npcIdArgument())
    .argument('<memoryId...>', 'IDs of the memories, as printed by "memories"')
    .requiredOption('--reason <text>', 'reason, which is recorded in the history')
    .option('--derived', 'also retract memories that were derived from these')
    .option(
      '--yes',
      'do not ask for confirmation; if there is no terminal, nothing is changed without this option, and the exit code is 1',
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('retract mira <memoryId> --reason "The baker lied." --derived'))
    .action((npcId: string, memoryIds: readonly string[], options: RetractOptions) =>
      retractFor(terminal, npcId, memoryIds, options),
    );
