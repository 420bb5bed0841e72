import { Command } from 'commander';

import type { MemoryRecord } from '../../../body/protocol.js';
import { defined } from '../../../kernel/base/defined.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import type { Terminal } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

/** How many memories are shown by default. */
const DEFAULT_LIMIT = 100;

/** A moment, the longest type of ours, an importance, whether it was confirmed; the text comes last. */
const lineOf = cellsOf([24, 11, 10, 9]);

type MemoriesOptions = {
  readonly type?: string;
  readonly asOf?: string;
  readonly limit: number;
  readonly json?: boolean;
};

const memoryLine = ({ createdAt, type, importance, confirmed, text }: MemoryRecord): string =>
  lineOf([createdAt, type, String(importance), confirmed ? 'yes' : '-', text]);

/** `anima memories <npcId>`: what a mind remembers, or remembered at an earlier moment. */
export const memoriesCommand = (terminal: Terminal): Command =>
  new Command('memories')
    .description("list an NPC's memories, oldest first, one per line")
    .argument('<npcId>')
    .option('--type <types>', 'only memories of these types, separated by commas')
    .option('--as-of <moment>', 'as they were: after this revision, or at this RFC 3339 timestamp')
    .option('--limit <n>', 'at most this many memories', wholeFrom(1), DEFAULT_LIMIT)
    .option('--json', 'print each memory as a line of JSON')
    .action((npcId: string, { type, asOf, limit, json = false }: MemoriesOptions) =>
      printListing<MemoryRecord>(terminal, {
        path: `/npcs/${encodeURIComponent(npcId)}/memory`,
        query: defined({ type, asOf }),
        limit,
        json,
        header: lineOf(['STORED', 'TYPE', 'IMPORTANCE', 'CONFIRMED', 'TEXT']),
        lineOf: memoryLine,
        none: 'No such memories.',
      }),
    );
