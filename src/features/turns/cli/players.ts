import { Command } from 'commander';

import type { KnownPlayer } from '../../../body/protocol.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import type { Terminal } from '../../../cli/shared/terminal.js';
import { examples, jsonOption, limitOption, npcIdArgument } from '../../../cli/shared/options.js';

const DEFAULT_LIMIT = 100;
/** Times always have 24 characters, and counts rarely more than 6. */
const lineOf = cellsOf([24, 24, 6, 8, 24, 16, 0]);

const playerLine = ({ id, name = '-', from, since, lastAt, turns, standing }: KnownPlayer): string =>
  lineOf([since, lastAt, String(turns), from, id, name, standing === null ? '-' : JSON.stringify(standing)]);

type PlayersOptions = { readonly limit: number; readonly json?: boolean };

/** `anima players <npcId>`: whom an NPC knows. */
export const playersCommand = (terminal: Terminal): Command =>
  new Command('players')
    .description('list the players whom an NPC knows, newest first, one per line')
    .addArgument(npcIdArgument())
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption('player'))
    .addHelpText('after', examples('players mira', 'players mira --json'))
    .action((npcId: string, { limit, json = false }: PlayersOptions) =>
      printListing<KnownPlayer>(terminal, {
        path: `/npcs/${encodeURIComponent(npcId)}/players`,
        query: {},
        limit,
        json,
        header: lineOf(['SINCE', 'LAST', 'TURNS', 'FROM', 'PLAYER', 'NAME', 'STANDING']),
        lineOf: playerLine,
        none: 'No players found.',
      }),
    );
