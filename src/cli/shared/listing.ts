import { defined } from '../../kernel/base/defined.js';
import { openClient } from './client.js';
import { listPages } from './list-pages.js';
import { caughtUp, isRead, print, printJson, remark, type Terminal } from './terminal.js';

/** A list that a server answers in pages, and how its items are shown. */
export type Listing<Item> = {
  readonly path: string;
  /** The member that holds the list; the answer itself is one where it is left out. */
  readonly member?: string;
  /** Without what pages it. */
  readonly query: Readonly<Record<string, string>>;
  /** At most this many items. */
  readonly limit: number;
  /** Each item as a line of JSON. */
  readonly json: boolean;
  readonly header: string;
  readonly lineOf: (item: Item) => string;
  /** Said when there are none. */
  readonly none: string;
};

/** Cells of one line. Pages come one by one, so columns cannot fit their cells: each has a width of its own. */
export const cellsOf =
  (widths: readonly number[]) =>
  (cells: readonly string[]): string =>
    cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');

/** Prints a list of the server item by item, as many pages as that takes. */
export const printListing = async <Item>(terminal: Terminal, listing: Listing<Item>): Promise<void> => {
  const { path, member, query, limit, json, header, lineOf, none } = listing;
  const request = await openClient(terminal);
  let shown = 0;
  let isCut = false;
  for await (const { items, hasMore } of listPages(request, { path, query, ...defined({ member }) }, limit)) {
    if (!json && shown === 0 && items.length > 0) print(terminal, header);
    for (const item of items) {
      if (json) printJson(terminal, item);
      else print(terminal, lineOf(item as Item));
    }
    await caughtUp(terminal);
    shown += items.length;
    isCut = hasMore;
    if (!isRead(terminal)) break;
  }
  if (shown === 0) remark(terminal, none);
  if (isCut && isRead(terminal)) remark(terminal, 'There are more: give a higher --limit.');
};
