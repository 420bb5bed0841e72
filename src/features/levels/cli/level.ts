import { Argument, Command } from 'commander';

import type { ListedLevel } from '../http/routes.js';
import { openClient, problemLine } from '../../../cli/shared/client.js';
import { readJsonFile } from '../../../cli/shared/files.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import { examples, jsonOption, limitOption } from '../../../cli/shared/options.js';
import { print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';

const pathOf = (levelId: string): string => `/levels/${encodeURIComponent(levelId)}`;

const levelArgument = (): Argument => new Argument('<levelId>', 'ID of the level');

type PutLevel = {
  readonly version: number;
  readonly created: boolean;
  readonly warnings: readonly unknown[];
};

/** `anima level put <levelId> <file>`: stores a Tiled map as a level. */
const putCommand = (terminal: Terminal): Command =>
  new Command('put')
    .description('store a Tiled map as a level, or list the problems of an invalid map')
    .addArgument(levelArgument())
    .argument('<file>', 'Tiled map in JSON (.tmj)')
    .addOption(jsonOption())
    .addHelpText('after', examples('level put castle castle.tmj'))
    .action(async (levelId: string, file: string, { json = false }: { readonly json?: boolean }) => {
      const map = await readJsonFile(terminal, file);
      const request = await openClient(terminal);
      const put = (await request('PUT', pathOf(levelId), map)) as PutLevel;
      if (json) {
        printJson(terminal, put);
        return;
      }
      for (const warning of put.warnings) remark(terminal, `warning: ${problemLine(warning)}`);
      const version = String(put.version);
      print(
        terminal,
        put.created ? `Stored ${levelId} as version ${version}.` : `${levelId} is unchanged (version ${version}).`,
      );
    });

const levelLine = cellsOf([24, 8, 9, 24]);
const DEFAULT_LIMIT = 100;

const listCommand = (terminal: Terminal): Command =>
  new Command('list')
    .description("list the built-in levels, then the tenant's own levels")
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption('level'))
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

const deleteCommand = (terminal: Terminal): Command =>
  new Command('delete')
    .description('delete a level (its versions can still be read)')
    .addArgument(levelArgument())
    .option('--all-versions', 'delete its versions too, which frees their storage')
    .action(async (levelId: string, { allVersions = false }: { readonly allVersions?: boolean }) => {
      const request = await openClient(terminal);
      await request('DELETE', `${pathOf(levelId)}${allVersions ? '?versions=all' : ''}`);
      print(terminal, `Deleted ${levelId}${allVersions ? ' with all its versions' : ''}.`);
    });

export const levelCommand = (terminal: Terminal): Command =>
  new Command('level')
    .description('store, list and delete the levels that ghosts play')
    .addCommand(putCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(deleteCommand(terminal));
