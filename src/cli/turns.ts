import { Command, Option } from 'commander';

import type { MindRequest } from '../body/mind-request.js';
import type { TurnSummary } from '../body/protocol.js';
import { defined } from '../domain/shared/defined.js';
import { openClient } from './client.js';
import { caughtUp, isRead, print, printJson, remark, type Terminal } from './terminal.js';
import { wholeFrom } from './whole-from.js';

/** Most turns asked for at once (contract 1.9). */
const PAGE = 500;
/** How many turns are shown by default. */
const DEFAULT_LIMIT = 100;
/** What `state` may be (contract 10.1). */
const STATES = ['awaitingActor', 'awaitingMemories', 'awaitingInference', 'ended', 'expired'];

/** The longest id and the longest state; a moment always has 24 characters. Pages come one by one, so columns cannot fit their cells. */
const WIDTHS = [31, 17, 24, 24];

type TurnsOptions = { readonly state?: string; readonly limit: number; readonly json?: true };

const lineOf = (cells: readonly string[]): string => cells.map((cell, at) => cell.padEnd(WIDTHS[at] ?? 0)).join('  ');

const HEADER = lineOf(['TURN', 'STATE', 'OPENED', 'DEADLINE', 'ENDED']);

/** One turn on one line; `-` where it has not ended. */
const turnLine = ({ turnId, state, openedAt, deadlineAt, endedAt = '-' }: TurnSummary): string =>
  lineOf([turnId, state, openedAt, deadlineAt, endedAt]);

/** A page of turns, and the cursor of the next one. */
const readPage = async (
  request: MindRequest,
  npcId: string,
  query: Readonly<Record<string, string>>,
): Promise<{ readonly turns: readonly TurnSummary[]; readonly next: string | undefined }> => {
  const cursors: string[] = [];
  const path = `/npcs/${encodeURIComponent(npcId)}/turns?${new URLSearchParams(query).toString()}`;
  const turns = await request('GET', path, undefined, { onMore: (cursor) => cursors.push(cursor) });
  return { turns: turns as readonly TurnSummary[], next: cursors[0] };
};

const list = async (terminal: Terminal, npcId: string, { state, limit, json }: TurnsOptions): Promise<void> => {
  const request = await openClient(terminal);
  let shown = 0;
  let cursor: string | undefined;
  do {
    const wanted = String(Math.min(PAGE, limit - shown));
    const { turns, next } = await readPage(request, npcId, { limit: wanted, ...defined({ cursor, state }) });
    if (!json && shown === 0 && turns.length > 0) print(terminal, HEADER);
    for (const turn of turns) {
      if (json) printJson(terminal, turn);
      else print(terminal, turnLine(turn));
    }
    await caughtUp(terminal);
    shown += turns.length;
    cursor = next;
  } while (cursor !== undefined && shown < limit && isRead(terminal));
  if (shown === 0) remark(terminal, 'No such turns.');
  if (cursor !== undefined && isRead(terminal)) remark(terminal, 'There are more: give a higher --limit.');
};

/** `anima turns <npcId>`: a mind's turns, those that wait as well as those that are over. */
export const turnsCommand = (terminal: Terminal): Command =>
  new Command('turns')
    .description("list an NPC's turns, newest first, one per line")
    .argument('<npcId>')
    .addOption(new Option('--state <state>', 'only turns in this state').choices(STATES))
    .option('--limit <n>', 'at most this many turns', wholeFrom(1), DEFAULT_LIMIT)
    .option('--json', 'print each turn as a line of JSON')
    .action((npcId: string, options: TurnsOptions) => list(terminal, npcId, options));
