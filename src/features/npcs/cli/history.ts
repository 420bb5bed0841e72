import { Command, InvalidArgumentError } from 'commander';

import type { HistoryPage } from '../../../body/protocol.js';
import { openClient } from '../../../cli/shared/client.js';
import { eventLine } from '../../../cli/shared/history-text.js';
import {
  examples,
  jsonOption,
  limitOption,
  npcIdArgument,
  sinceOption,
  untilOption,
} from '../../../cli/shared/options.js';
import { caughtUp, isRead, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { counted } from '../../../cli/shared/text.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';
import { defined } from '../../../kernel/base/defined.js';
import { nearestName } from '../../../kernel/base/nearest.js';
import { npcEvents } from '../domain/events.js';

/** The largest number of events in one request. */
const PAGE = 500;
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

/** Parses event types: a misspelt one would only find nothing. */
const typesFrom = (text: string): string => {
  const unknown = text.split(',').find((type) => !npcEvents.types.includes(type));
  if (unknown === undefined) return text;
  const meant = nearestName(unknown, npcEvents.types);
  throw new InvalidArgumentError(
    `${JSON.stringify(unknown)} is not an event type. ` +
      (meant === undefined ? 'docs/reference/events lists them.' : `Perhaps ${meant} was meant.`),
  );
};

const filterOf = ({ type, turn, actor, since, until }: HistoryOptions): Readonly<Record<string, string>> =>
  defined({ type, turnId: turn, actor, since, until });

const show = async (terminal: Terminal, npcId: string, options: HistoryOptions): Promise<void> => {
  const request = await openClient(terminal);
  let [shown, broken] = [0, 0];
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
      if (event.broken === true) broken += 1;
      if (options.json) printJson(terminal, event);
      else print(terminal, eventLine(event));
    }
    await caughtUp(terminal);
    shown += page.events.length;
    next = page.next;
  } while (next !== undefined && shown < options.limit && isRead(terminal));
  if (shown === 0) remark(terminal, 'No events found.');
  if (broken > 0)
    remark(
      terminal,
      `Not what was recorded: ${counted(broken, 'event', 'events')}, marked as broken. "anima chain ${npcId}" and "anima audit ${npcId}" show more.`,
    );
  if (next !== undefined && isRead(terminal))
    remark(terminal, `There are more events: continue with --from ${String(next)}.`);
};

/** `anima history <npcId>`: the recorded events of an NPC. */
export const historyCommand = (terminal: Terminal): Command =>
  new Command('history')
    .description('list the recorded events of an NPC, oldest first, one per line')
    .addArgument(npcIdArgument())
    .option('--from <revision>', 'start at this revision', wholeFrom(0))
    .addOption(limitOption(DEFAULT_LIMIT))
    .option('--backwards', 'list the newest events first')
    .option('--type <list>', 'only events of these types, separated by commas', typesFrom)
    .option('--turn <list>', 'only events of these turns (IDs separated by commas)')
    .option('--actor <list>', 'only events caused by these keys (IDs separated by commas), or "system"')
    .addOption(sinceOption())
    .addOption(untilOption())
    .addOption(jsonOption('event'))
    .addHelpText('after', examples('history mira --since 7d', 'history mira --type VerdictReached,VerdictRefused'))
    .action((npcId: string, options: HistoryOptions) => show(terminal, npcId, options));
