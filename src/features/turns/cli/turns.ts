import { Command, Option } from 'commander';

import type { TurnSummary } from '../../../body/protocol.js';
import { defined } from '../../../kernel/base/defined.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import type { Terminal } from '../../../cli/shared/terminal.js';
import { examples, jsonOption, limitOption, npcIdArgument } from '../../../cli/shared/options.js';

const DEFAULT_LIMIT = 100;
/** The values of `--state`. */
const STATES = ['awaitingActor', 'awaitingMemories', 'awaitingInference', 'ended', 'failed', 'expired'];

/** The longest ID and the longest state; a time always has 24 characters. */
const lineOf = cellsOf([31, 17, 24, 24]);

type TurnsOptions = { readonly state?: string; readonly limit: number; readonly json?: boolean };

/** One turn on one line; `-` where it has not ended. */
const turnLine = ({ turnId, state, openedAt, deadlineAt, endedAt = '-' }: TurnSummary): string =>
  lineOf([turnId, state, openedAt, deadlineAt, endedAt]);

/** `anima turns <npcId>`: the open and ended turns of an NPC. */
export const turnsCommand = (terminal: Terminal): Command =>
  new Command('turns')
    .description('list the turns of an NPC, newest first, one per line')
    .addArgument(npcIdArgument())
    .addOption(new Option('--state <state>', 'only turns in this state').choices(STATES))
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption('turn'))
    .addHelpText('after', examples('turns mira', 'turns mira --state expired'))
    .action((npcId: string, { state, limit, json = false }: TurnsOptions) =>
      printListing<TurnSummary>(terminal, {
        path: `/npcs/${encodeURIComponent(npcId)}/turns`,
        query: defined({ state }),
        limit,
        json,
        header: lineOf(['TURN', 'STATE', 'OPENED', 'DEADLINE', 'ENDED']),
        lineOf: turnLine,
        none: 'No turns found.',
      }),
    );
