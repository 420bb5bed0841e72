import { Command } from 'commander';

import type { ListedLevel } from '../http/routes.js';
import { openClient, problemLine } from '../../../cli/shared/client.js';
import { readJsonFile } from '../../../cli/shared/files.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import { print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

const pathOf = (levelId: string): string => `/levels/${encodeURIComponent(levelId)}`;

type PutLevel = {
  readonly version: number;
  readonly created: boolean;
  readonly warnings: readonly unknown[];
};

/** `anima level put <levelId> <file>`: a map that Tiled wrote, as a level. */
const putCommand = (terminal: Terminal): Command =>
  new Command('put')
    .description('make a level of a map that was drawn in Tiled; fails with what keeps it from being one')
    .argument('<levelId>')
    .argument('<file>', 'the map as JSON (.tmj)')
    .option('--json', "print the server's answer as a line of JSON")
    .action(async (levelId: string, file: string, { json = false }: { readonly json?: boolean }) => {
      const map = await readJsonFile(terminal, file);
      const request = await openClient(terminal);
      const put = (await request('PUT', pathOf(levelId), map)) as PutLevel;
      if (json) {
        printJson(terminal, put);
        return;
      }
      for (const warning of put.warnings) remark(terminal, `warning: ${problemLine(warning)}`);
      const state = put.created ? '' : ', as it was already';
      print(terminal, `${levelId} is version ${String(put.version)}${state}.`);
    });

const levelLine = cellsOf([24, 8, 9, 24]);
const DEFAULT_LIMIT = 100;

/** `anima level list`. */
const listCommand = (terminal: Terminal): Command =>
  new Command('list')
    .description('list the levels that come with the server, then those of the studio')
    .option('--limit <n>', 'at most this many', wholeFrom(1), DEFAULT_LIMIT)
    .option('--json', 'print each level as a line of JSON')
    .action(({ limit, json = false }: { readonly limit: number; readonly json?: boolean }) =>
      printListing<(typeof ListedLevel)['static']>(terminal, {
        path: '/levels',
        query: {},
        limit,
        json,
        header: levelLine(['LEVEL', 'VERSION', 'TILES', 'UPDATED', 'NAME']),
        lineOf: ({ levelId, version, width, height, updatedAt, name }) =>
          levelLine([
            ...[levelId, version === null ? 'built-in' : String(version), `${String(width)}x${String(height)}`],
            ...[updatedAt ?? '-', name],
          ]),
        none: 'No levels.',
      }),
    );

/** `anima level delete <levelId>`. */
const deleteCommand = (terminal: Terminal): Command =>
  new Command('delete')
    .description('delete a level; its versions stay readable')
    .argument('<levelId>')
    .option('--all-versions', 'drop its versions as well, which makes room')
    .action(async (levelId: string, { allVersions = false }: { readonly allVersions?: boolean }) => {
      const request = await openClient(terminal);
      await request('DELETE', `${pathOf(levelId)}${allVersions ? '?versions=all' : ''}`);
      print(terminal, `${levelId} is deleted${allVersions ? ', with all its versions' : ''}.`);
    });

/** `anima level`: the places that ghosts play. */
export const levelCommand = (terminal: Terminal): Command =>
  new Command('level')
    .description('put, list and delete the levels that ghosts play')
    .addCommand(putCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(deleteCommand(terminal));
