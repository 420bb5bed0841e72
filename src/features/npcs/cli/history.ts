import { Command } from 'commander';

import type { HistoryPage } from '../../../body/protocol.js';
import { openClient } from '../../../cli/shared/client.js';
import { eventLine } from '../../../cli/shared/history-text.js';
import { sinceOf, untilOf } from '../../../cli/shared/since.js';
import { caughtUp, isRead, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';
import { defined } from '../../../kernel/base/defined.js';

/** The largest number of events in one request. */
const PAGE = 500;
/** How many events are shown by default. */
const DEFAULT_LIMIT = 1_000;

type HistoryOptions = {
  readonly from?: number;
  readonly limit: number;
  readonly backwards?: true;
  readonly type?: string;
  readonly turn?: string;
  readonly actor?: string;
  readonly since?: string;
  readonly until?: string;
  readonly json?: true;
};

/** What the options leave out, as the routes take it. */
const filterOf = ({ type, turn, actor, since, until }: HistoryOptions): Readonly<Record<string, string>> =>
  defined({ type, turnId: turn, actor, since, until });

const show = async (terminal: Terminal, npcId: string, options: HistoryOptions): Promise<void> => {
  const request = await openClient(terminal);
  let shown = 0;
  let next = options.from;
  do {
    const query = new URLSearchParams({
      direction: options.backwards ? 'backwards' : 'forwards',
      limit: String(Math.min(PAGE, options.limit - shown)),
      ...defined({ from: next?.toString() }),
      ...filterOf(options),
    });
    const page = (await request(
      'GET',
      `/npcs/${encodeURIComponent(npcId)}/history?${query.toString()}`,
    )) as HistoryPage;
    for (const event of page.events) {
      if (options.json) printJson(terminal, event);
      else print(terminal, eventLine(event));
    }
    await caughtUp(terminal);
    shown += page.events.length;
    next = page.next;
  } while (next !== undefined && shown < options.limit && isRead(terminal));
  if (shown === 0) remark(terminal, 'No such events.');
  if (next !== undefined && isRead(terminal)) remark(terminal, `There is more: continue with --from ${String(next)}.`);
};

/** `anima history <npcId>`: what is recorded about a mind. */
export const historyCommand = (terminal: Terminal): Command =>
  new Command('history')
    .description('show what is recorded about an NPC, one event per line')
    .argument('<npcId>')
    .option('--from <revision>', 'the first revision to show', wholeFrom(0))
    .option('--limit <n>', 'at most this many events', wholeFrom(1), DEFAULT_LIMIT)
    .option('--backwards', 'newest first')
    .option('--type <list>', 'only these types of event, for example VerdictReached,VerdictRefused')
    .option('--turn <list>', 'only events of these turns')
    .option('--actor <list>', 'only what these keys did, or "system"')
    .option('--since <time>', 'only from this time on, or so long ago: 30m, 12h, 7d', sinceOf(Date.now))
    .option('--until <time>', 'only up to this time', untilOf(Date.now))
    .option('--json', 'print each whole event as a line of JSON')
    .action((npcId: string, options: HistoryOptions) => show(terminal, npcId, options));
