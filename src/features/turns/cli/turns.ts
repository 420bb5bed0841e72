import { Argument, Command, Option } from 'commander';

import type { TurnSummary } from '../../../body/protocol.js';
import { defined } from '../../../kernel/base/defined.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import { type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';
import { examples, jsonOption, limitOption } from '../../../cli/shared/options.js';

const DEFAULT_LIMIT = 100;
/** The values of `--state`. */
const STATES = ['awaitingActor', 'awaitingMemories', 'awaitingInference', 'ended', 'failed', 'expired'];

/** The longest ID and the longest state; a time always has 24 characters. */
const lineOf = cellsOf([31, 17, 24, 24]);

/** The same for the open turns of all NPCs, which have not ended; the NPC comes last. */
const openLineOf = cellsOf([31, 17, 24, 24]);

type TurnsOptions = {
  readonly open?: true;
  readonly state?: string;
  readonly limit: number;
  readonly json?: boolean;
};

/** One turn on one line; `-` where it has not ended. */
const turnLine = ({ turnId, state, openedAt, deadlineAt, endedAt = '-' }: TurnSummary): string =>
  lineOf([turnId, state, openedAt, deadlineAt, endedAt]);

const openTurnLine = ({ turnId, state, openedAt, deadlineAt, npcId }: TurnSummary): string =>
  openLineOf([turnId, state, openedAt, deadlineAt, npcId]);

const NONE = 'No turns found.';

/** @throws WrongUsage, CommandFailed */
const list = async (
  terminal: Terminal,
  npcId: string | undefined,
  { open, state, limit, json = false }: TurnsOptions,
): Promise<void> => {
  if (open) {
    if (npcId !== undefined || state !== undefined)
      throw new WrongUsage('--open lists the open turns of all NPCs: leave out the NPC and --state.');
    await printListing<TurnSummary>(terminal, {
      path: '/turns',
      query: { state: 'open' },
      limit,
      json,
      header: openLineOf(['TURN', 'STATE', 'OPENED', 'DEADLINE', 'NPC']),
      lineOf: openTurnLine,
      none: NONE,
    });
    return;
  }
  if (npcId === undefined) throw new WrongUsage('Name an NPC, or pass --open for the open turns of all NPCs.');
  await printListing<TurnSummary>(terminal, {
    path: `/npcs/${encodeURIComponent(npcId)}/turns`,
    query: defined({ state }),
    limit,
    json,
    header: lineOf(['TURN', 'STATE', 'OPENED', 'DEADLINE', 'ENDED']),
    lineOf: turnLine,
    none: NONE,
  });
};

/** `anima turns <npcId>`: the open and ended turns of an NPC; `anima turns --open`: the open turns of all NPCs. */
export const turnsCommand = (terminal: Terminal): Command =>
  new Command('turns')
    .description('list the turns of an NPC, newest first, or the open turns of all NPCs, oldest first, one per line')
    .addArgument(new Argument('[npcId]', 'ID of the NPC; left out with --open'))
    .option('--open', 'list the open turns of all NPCs')
    .addOption(new Option('--state <state>', 'only turns in this state').choices(STATES))
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption('turn'))
    .addHelpText('after', examples('turns mira', 'turns mira --state expired', 'turns --open'))
    .action((npcId: string | undefined, options: TurnsOptions) => list(terminal, npcId, options));
