import { stringify } from 'csv-stringify/sync';

import type { HistoryEvent } from '../../../kernel/streams/history.js';

/** The columns of a history as CSV; `data` is JSON. */
const COLUMNS = [
  ...['revision', 'at', 'type', 'actor', 'turnId', 'data'],
  ...['id', 'commandId', 'correlationId', 'causationId', 'schemaVersion', 'hash', 'prevHash'],
] as const satisfies readonly (keyof HistoryEvent)[];

/** RFC 4180. A spreadsheet takes a cell that begins with one of `= + - @` for a formula, and clients make up some of them: these get an apostrophe before them. */
const line = (cells: readonly unknown[]): string =>
  stringify([cells], { record_delimiter: 'windows', escape_formulas: true });

export const csvHeader = (): string => line(COLUMNS);

/** One event as a line of CSV. */
export const csvLine = (event: HistoryEvent): string =>
  line(COLUMNS.map((name) => (name === 'data' ? JSON.stringify(event.data) : (event[name] ?? ''))));
