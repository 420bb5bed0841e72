import type { MindRequest } from '../body/mind-request.js';
import { defined } from '../domain/shared/defined.js';
import { openClient } from './client.js';
import { caughtUp, isRead, print, printJson, remark, type Terminal } from './terminal.js';

/** Most items asked for at once (contract 1.9). */
const PAGE = 500;

/** A list that a server answers in pages, and how its items are shown. */
export type Listing<Item> = {
  readonly path: string;
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

/** A page, and the cursor of the next one. */
const readPage = async (
  request: MindRequest,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<{ readonly items: readonly unknown[]; readonly next: string | undefined }> => {
  const cursors: string[] = [];
  const items = await request('GET', `${path}?${new URLSearchParams(query).toString()}`, undefined, {
    onMore: (cursor) => cursors.push(cursor),
  });
  return { items: items as readonly unknown[], next: cursors[0] };
};

/** Prints a list of the server item by item, as many pages as that takes. */
export const printListing = async <Item>(terminal: Terminal, listing: Listing<Item>): Promise<void> => {
  const { path, query, limit, json, header, lineOf, none } = listing;
  const request = await openClient(terminal);
  let shown = 0;
  let cursor: string | undefined;
  do {
    const wanted = String(Math.min(PAGE, limit - shown));
    const { items, next } = await readPage(request, path, { ...query, limit: wanted, ...defined({ cursor }) });
    if (!json && shown === 0 && items.length > 0) print(terminal, header);
    for (const item of items) {
      if (json) printJson(terminal, item);
      else print(terminal, lineOf(item as Item));
    }
    await caughtUp(terminal);
    shown += items.length;
    cursor = next;
  } while (cursor !== undefined && shown < limit && isRead(terminal));
  if (shown === 0) remark(terminal, none);
  if (cursor !== undefined && isRead(terminal)) remark(terminal, 'There are more: give a higher --limit.');
};
