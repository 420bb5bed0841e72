import { Command } from 'commander';

import type { HistoryAccess } from '../domain/access-events.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import { examples, jsonOption, limitOption } from '../../../cli/shared/options.js';
import type { Terminal } from '../../../cli/shared/terminal.js';

const DEFAULT_LIMIT = 100;

/** A minute, the id of a key, an operation, how many requests; the NPC comes last. */
const lineOf = cellsOf([16, 17, 24, 8]);

const accessLine = ({ minute, keyId, operation, count, npcId }: HistoryAccess): string =>
  lineOf([minute.slice(0, 16).replace('T', ' '), keyId, operation, String(count), npcId ?? '-']);

/** `anima access`: who read histories, and who acted with the scopes of operators. */
export const accessCommand = (terminal: Terminal): Command =>
  new Command('access')
    .description('list who read histories or acted as an operator, newest first, one per line (scope audit)')
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption('access'))
    .addHelpText('after', examples('access', 'access --limit 1000 --json'))
    .action(({ limit, json = false }: { readonly limit: number; readonly json?: boolean }) =>
      printListing<HistoryAccess>(terminal, {
        path: '/access',
        query: {},
        limit,
        json,
        header: lineOf(['MINUTE', 'KEY ID', 'OPERATION', 'REQUESTS', 'NPC']),
        lineOf: accessLine,
        none: 'No accesses found.',
      }),
    );
