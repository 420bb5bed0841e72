import { Command } from 'commander';

import type { RetractionList } from '../http/retractions.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import { examples, jsonOption, limitOption } from '../../../cli/shared/options.js';
import type { Terminal } from '../../../cli/shared/terminal.js';

const DEFAULT_LIMIT = 100;

type Retraction = (typeof RetractionList)['static'][number];

/** A time, the NPC, the id of a key, how many memories; the reason comes last. */
const lineOf = cellsOf([24, 16, 17, 8]);

const retractionLine = ({ at, npcId, by, memoryIds, reason }: Retraction): string =>
  lineOf([at, npcId, by, String(memoryIds.length), reason]);

/** `anima retractions`: which memories were retracted, in all NPCs. */
export const retractionsCommand = (terminal: Terminal): Command =>
  new Command('retractions')
    .description('list the retractions in all NPCs, newest first, one per line (scope audit)')
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption('retraction'))
    .addHelpText('after', examples('retractions', 'retractions --limit 1000 --json'))
    .action(({ limit, json = false }: { readonly limit: number; readonly json?: boolean }) =>
      printListing<Retraction>(terminal, {
        path: '/retractions',
        query: {},
        limit,
        json,
        header: lineOf(['RETRACTED', 'NPC', 'KEY ID', 'MEMORIES', 'REASON']),
        lineOf: retractionLine,
        none: 'No retractions found.',
      }),
    );
