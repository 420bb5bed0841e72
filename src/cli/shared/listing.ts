import { defined } from '../../kernel/base/defined.js';
import { openClient } from './client.js';
import { namingRulesets } from './known-rulesets.js';
import { listPages } from './list-pages.js';
import { caughtUp, isRead, print, printJson, remark, type Terminal } from './terminal.js';

/** A paged list of the server, and how to print its items. */
export type Listing<Item> = {
  readonly path: string;
  /** The member of the response that holds the list; without it, the response is the list. */
  readonly member?: string;
  /** Without cursor and limit. */
  readonly query: Readonly<Record<string, string>>;
  readonly limit: number;
  /** Each item as a line of JSON. */
  readonly json: boolean;
  readonly header: string;
  readonly lineOf: (item: Item) => string;
  /** Prints only items for which it returns true; the list is then read until `limit` are printed. */
  readonly keep?: (item: Item) => boolean;
  /** The message for an empty list. */
  readonly none: string;
};

/** Formats one line of a list. Column widths are fixed, because pages are printed one by one. */
export const cellsOf =
  (widths: readonly number[]) =>
  (cells: readonly string[]): string =>
    cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');

/** Prints a list of the server, page by page. */
export const printListing = async <Item>(terminal: Terminal, listing: Listing<Item>): Promise<void> => {
  const { path, member, query, limit, json, header, lineOf, keep = () => true, none } = listing;
  const read = listing.keep === undefined ? limit : Infinity;
  const request = namingRulesets(await openClient(terminal));
  let shown = 0;
  let isCut = false;
  for await (const { items, hasMore } of listPages(request, { path, query, ...defined({ member }) }, read)) {
    const kept = items.filter((item) => keep(item as Item));
    const page = kept.slice(0, limit - shown);
    if (!json && shown === 0 && page.length > 0) print(terminal, header);
    for (const item of page) {
      if (json) printJson(terminal, item);
      else print(terminal, lineOf(item as Item));
    }
    await caughtUp(terminal);
    shown += page.length;
    isCut = hasMore || page.length < kept.length;
    if (!isRead(terminal) || shown === limit) break;
  }
  if (shown === 0) remark(terminal, none);
  if (isCut && isRead(terminal))
    remark(terminal, `There ${listing.keep === undefined ? 'are' : 'may be'} more: raise --limit to see them.`);
};
