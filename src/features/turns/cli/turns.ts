import { Command, Option } from 'commander';

import type { TurnSummary } from '../../../body/protocol.js';
import { defined } from '../../../kernel/base/defined.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import type { Terminal } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

/** How many turns are shown by default. */
const DEFAULT_LIMIT = 100;
/** The values of `--state`. */
const STATES = ['awaitingActor', 'awaitingMemories', 'awaitingInference', 'ended', 'expired'];

/** The longest id and the longest state; a moment always has 24 characters. */
const lineOf = cellsOf([31, 17, 24, 24]);

type TurnsOptions = { readonly state?: string; readonly limit: number; readonly json?: boolean };

/** One turn on one line; `-` where it has not ended. */
const turnLine = ({ turnId, state, openedAt, deadlineAt, endedAt = '-' }: TurnSummary): string =>
  lineOf([turnId, state, openedAt, deadlineAt, endedAt]);

/** `anima turns <npcId>`: a mind's turns, those that wait as well as those that are over. */
export const turnsCommand = (terminal: Terminal): Command =>
  new Command('turns')
    .description("list an NPC's turns, newest first, one per line")
    .argument('<npcId>')
    .addOption(new Option('--state <state>', 'only turns in this state').choices(STATES))
    .option('--limit <n>', 'at most this many turns', wholeFrom(1), DEFAULT_LIMIT)
    .option('--json', 'print each turn as a line of JSON')
    .action((npcId: string, { state, limit, json = false }: TurnsOptions) =>
      printListing<TurnSummary>(terminal, {
        path: `/npcs/${encodeURIComponent(npcId)}/turns`,
        query: defined({ state }),
        limit,
        json,
        header: lineOf(['TURN', 'STATE', 'OPENED', 'DEADLINE', 'ENDED']),
        lineOf: turnLine,
        none: 'No such turns.',
      }),
    );
