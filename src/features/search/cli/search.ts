import { Command } from 'commander';

import type { SearchHit, SearchPage } from '../../../body/protocol.js';
import { defined } from '../../../kernel/base/defined.js';
import { openClient } from '../../../cli/shared/client.js';
import { sinceOf, untilOf } from '../../../cli/shared/since.js';
import { caughtUp, isRead, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';

/** The largest number of hits in one request. */
const PAGE = 100;
/** How many hits are shown by default. */
const DEFAULT_LIMIT = 20;

type SearchOptions = {
  readonly npc?: string;
  readonly by?: string;
  readonly to?: string;
  readonly kind?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly json?: true;
};

/** Time, mind, kind, who to whom, what around the hit, and the turn to go on with. */
const hitLine = ({ at, npcId, kind, by, to, snippet, turnId, refused }: SearchHit): string => {
  const whom = by === null && to === null ? '' : `${by ?? '?'} -> ${to ?? '?'}`;
  const what = `"${snippet.replace(/\s+/g, ' ').trim()}"`;
  return [
    `${at.slice(0, 10)} ${at.slice(11, 19)}`,
    npcId,
    refused === true ? `${kind}, REFUSED` : kind,
    whom,
    what,
    turnId === null ? '' : `[${turnId}]`,
  ]
    .filter(Boolean)
    .join('  ');
};

/** What somebody may not know who looked for a part of a word. */
const WHOLE_WORDS = ' Words are looked for as they stand; old* finds what begins with "old".';

const show = async (terminal: Terminal, q: string | undefined, options: SearchOptions): Promise<void> => {
  const request = await openClient(terminal);
  const { npc, by, to, kind, since, until, limit, json } = options;
  let shown = 0;
  let cursor: string | undefined;
  do {
    const asked = defined({ q, npcId: npc, by, to, kind, since, until, cursor });
    const query = new URLSearchParams({ ...asked, limit: String(Math.min(PAGE, limit - shown)) });
    const page = (await request('GET', `/search?${query.toString()}`)) as SearchPage;
    for (const hit of page.hits) {
      if (json) printJson(terminal, hit);
      else print(terminal, hitLine(hit));
    }
    await caughtUp(terminal);
    shown += page.hits.length;
    cursor = page.next;
  } while (cursor !== undefined && shown < limit && isRead(terminal));
  if (shown === 0) remark(terminal, `Nothing was found.${q === undefined || q.includes('*') ? '' : WHOLE_WORDS}`);
  if (cursor !== undefined && isRead(terminal)) remark(terminal, 'There may be more: give a higher --limit.');
};

/** `anima search <words>`: what was said, by whom and to whom, in all minds. */
export const searchCommand = (terminal: Terminal): Command =>
  new Command('search')
    .description('find what was said, by whom and to whom, in all minds, newest first, one per line')
    .argument(
      '[words]',
      'words that must be there; "\\"several words\\"" in this order, word* for a beginning, -word must not be there',
    )
    .option('--npc <list>', 'only in the minds of these NPCs')
    .option('--by <list>', 'only by these NPCs or players')
    .option('--to <list>', 'only to these NPCs or players')
    .option('--kind <list>', 'only of these kinds: heard, said, did, memory')
    .option(
      '--since <time>',
      'only from this time on, or so long ago: 30m, 12h, 7d',
      sinceOf(() => Date.now()),
    )
    .option(
      '--until <time>',
      'only up to this time, or so long ago',
      untilOf(() => Date.now()),
    )
    .option('--limit <n>', 'at most this many', wholeFrom(1), DEFAULT_LIMIT)
    .option('--json', 'print each hit as a line of JSON')
    .addHelpText('after', '\nWords that begin with a minus come after "--". Go on with: anima why <npcId> <turnId>.')
    .action((words: string | undefined, options: SearchOptions) => show(terminal, words, options));
