import { Command } from 'commander';

import type { MemoryRecord } from '../../../body/protocol.js';
import { defined } from '../../../kernel/base/defined.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import type { Terminal } from '../../../cli/shared/terminal.js';
import { asOfOption, examples, jsonOption, limitOption, npcIdArgument } from '../../../cli/shared/options.js';

const DEFAULT_LIMIT = 100;

/** The longest id that the server makes, a time, the longest built-in type, an importance, whether it was confirmed, the id of a player; the text comes last. */
const lineOf = cellsOf([38, 24, 11, 10, 9, 12]);

type MemoriesOptions = {
  readonly type?: string;
  readonly asOf?: string;
  readonly grep?: string;
  readonly limit: number;
  readonly json?: boolean;
};

const memoryLine = ({ memoryId, createdAt, type, importance, confirmed, player, text }: MemoryRecord): string =>
  lineOf([memoryId, createdAt, type, String(importance), confirmed ? 'yes' : '-', player?.id ?? '-', text]);

const having = (grep: string): ((memory: MemoryRecord) => boolean) => {
  const wanted = grep.toLowerCase();
  return ({ text }) => text.toLowerCase().includes(wanted);
};

/** `anima memories <npcId>`: the memories of an NPC, now or at an earlier time. */
export const memoriesCommand = (terminal: Terminal): Command =>
  new Command('memories')
    .description('list the memories of an NPC, oldest first, one per line')
    .addArgument(npcIdArgument())
    .option('--type <list>', 'only memories of these types, separated by commas')
    .addOption(asOfOption())
    .option('--grep <text>', 'only memories whose text has this, in upper or lower case')
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption('memory'))
    .addHelpText(
      'after',
      examples('memories mira', 'memories mira --type knowledge --as-of 12', 'memories mira --grep "silver locket"'),
    )
    .action((npcId: string, { type, asOf, grep, limit, json = false }: MemoriesOptions) =>
      printListing<MemoryRecord>(terminal, {
        path: `/npcs/${encodeURIComponent(npcId)}/memory`,
        query: defined({ type, asOf }),
        ...(grep === undefined ? {} : { keep: having(grep) }),
        limit,
        json,
        header: lineOf(['MEMORY', 'STORED', 'TYPE', 'IMPORTANCE', 'CONFIRMED', 'PLAYER', 'TEXT']),
        lineOf: memoryLine,
        none: 'No memories found.',
      }),
    );
