import { Command } from 'commander';

import type { SearchHit, SearchPage } from '../../../body/protocol.js';
import { defined } from '../../../kernel/base/defined.js';
import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption, limitOption, sinceOption, untilOption } from '../../../cli/shared/options.js';
import { caughtUp, isRead, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';

/** The largest number of hits in one request. */
const PAGE = 100;
const DEFAULT_LIMIT = 20;

type SearchOptions = {
  readonly npc?: string;
  readonly by?: string;
  readonly to?: string;
  readonly kind?: string;
  readonly refused?: boolean;
  readonly rule?: string;
  readonly action?: string;
  readonly player?: string;
  readonly actor?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly json?: true;
};

/** A hit's kind, with what became of it. */
const kindOf = ({ kind, refused, drRuleId, code, retracted }: SearchHit): string => {
  if (retracted === true) return `${kind}, RETRACTED`;
  if (refused !== true) return kind;
  const why = drRuleId ?? code;
  return `${kind}, REFUSED${why === undefined ? '' : ` by ${why}`}`;
};

/** Time, NPC, kind, speaker and listener, the text around the hit, the memory, and the turn for `anima why`. */
const hitLine = (hit: SearchHit): string => {
  const { at, npcId, by, to, snippet, turnId, memoryId } = hit;
  const whom = by === null && to === null ? '' : `${by ?? '?'} -> ${to ?? '?'}`;
  const what = `"${snippet.replace(/\s+/g, ' ').trim()}"`;
  return [
    `${at.slice(0, 10)} ${at.slice(11, 19)}`,
    npcId,
    kindOf(hit),
    whom,
    what,
    memoryId ?? '',
    turnId === null ? '' : `[${turnId}]`,
  ]
    .filter(Boolean)
    .join('  ');
};

/** A hint for a search that may have looked for a part of a word. */
const WHOLE_WORDS = ' Search matches whole words; old* matches words that begin with "old".';

const show = async (terminal: Terminal, q: string | undefined, options: SearchOptions): Promise<void> => {
  const request = await openClient(terminal);
  const { npc, by, to, kind, refused, rule, action, player, actor, since, until, limit, json } = options;
  const filters = { npcId: npc, by, to, kind, refused: refused?.toString(), drRuleId: rule, action, player, actor };
  let shown = 0;
  let cursor: string | undefined;
  do {
    const asked = defined({ q, ...filters, since, until, cursor });
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
  if (shown === 0) remark(terminal, `No results.${q === undefined || q.includes('*') ? '' : WHOLE_WORDS}`);
  if (cursor !== undefined && isRead(terminal)) remark(terminal, 'There may be more: raise --limit to see them.');
};

/** `anima search [query]`: full-text search in what NPCs heard, said, did and remember. */
export const searchCommand = (terminal: Terminal): Command =>
  new Command('search')
    .description('search what NPCs heard, said, did and remember, newest first, one hit per line')
    .argument(
      '[query]',
      'words that must all occur; "two words" for a phrase, word* for words with that prefix, -word to exclude a word',
    )
    .option('--npc <list>', 'only hits of these NPCs (IDs separated by commas)')
    .option('--by <list>', 'only hits by these NPCs or players (separated by commas)')
    .option('--to <list>', 'only hits addressed to these NPCs or players (separated by commas)')
    .option('--kind <list>', 'only hits of these kinds: heard, said, did, memory (separated by commas)')
    .option('--refused', 'only hits of verdicts that were refused')
    .option('--no-refused', 'all hits except those')
    .option('--rule <list>', 'only hits of verdicts that one of these rules refused or changed (separated by commas)')
    .option('--action <list>', 'only hits of verdicts with one of these types of action (separated by commas)')
    .option('--player <list>', 'only hits in which one of these players took part (IDs or names, separated by commas)')
    .option('--actor <list>', 'only hits that one of these keys recorded (key IDs, separated by commas)')
    .addOption(sinceOption())
    .addOption(untilOption())
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption('hit'))
    .addHelpText(
      'after',
      `\nIn a list, write a comma within a name as \\, and a backslash as \\\\. Put -- before a query that begins with a minus sign. Each hit ends with the ID of its memory, and of its turn, which "why" explains.\n${examples(
        'search lantern --since 7d',
        'search --refused --rule no-fights --since 7d',
        `search '"silver locket" -box' --kind said,heard`,
        'search -- -lantern',
      )}`,
    )
    .action((words: string | undefined, options: SearchOptions) => show(terminal, words, options));
