import { Command } from 'commander';

import type { MemoryRecord } from '../../../body/protocol.js';
import { defined } from '../../../kernel/base/defined.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import type { Terminal } from '../../../cli/shared/terminal.js';
import { examples, jsonOption, limitOption, npcIdArgument } from '../../../cli/shared/options.js';

const DEFAULT_LIMIT = 100;

/** The longest id that the server makes, a time, the longest built-in type, an importance, whether it was confirmed; the text comes last. */
const lineOf = cellsOf([38, 24, 11, 10, 9]);

type MemoriesOptions = {
  readonly type?: string;
  readonly asOf?: string;
  readonly limit: number;
  readonly json?: boolean;
};

const memoryLine = ({ memoryId, createdAt, type, importance, confirmed, text }: MemoryRecord): string =>
  lineOf([memoryId, createdAt, type, String(importance), confirmed ? 'yes' : '-', text]);

/** `anima memories <npcId>`: the memories of an NPC, now or at an earlier time. */
export const memoriesCommand = (terminal: Terminal): Command =>
  new Command('memories')
    .description('list the memories of an NPC, oldest first, one per line')
    .addArgument(npcIdArgument())
    .option('--type <list>', 'only memories of these types, separated by commas')
    .option(
      '--as-of <revision|time>',
      'list the memories as they were after this revision or at this time (2026-07-01T09:30:00Z)',
    )
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption('memory'))
    .addHelpText('after', examples('memories mira', 'memories mira --type knowledge --as-of 12'))
    .action((npcId: string, { type, asOf, limit, json = false }: MemoriesOptions) =>
      printListing<MemoryRecord>(terminal, {
        path: `/npcs/${encodeURIComponent(npcId)}/memory`,
        query: defined({ type, asOf }),
        limit,
        json,
        header: lineOf(['MEMORY', 'STORED', 'TYPE', 'IMPORTANCE', 'CONFIRMED', 'TEXT']),
        lineOf: memoryLine,
        none: 'No memories found.',
      }),
    );
