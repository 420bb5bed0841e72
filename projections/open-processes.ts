import type { OpenProcess, RecordedEvent } from '../src/ports/event-store.js';
import type { Projection } from '../src/ports/read-models.js';

/** The one partition of all rows, because the search for lost processes covers all of them. */
export const OPEN_PROCESSES_PARTITION = 'open';

const none: readonly string[] = [];

const placeOf = ({ stream, name, id }: OpenProcess): string => JSON.stringify([stream, name, id]);

const processOf = ({ stream, meta: { process } }: RecordedEvent): OpenProcess | null =>
  process === undefined ? null : { name: process.name, id: process.id, stream, due: process.due };

/** The processes whose last mark is open, and when they are due. Lost ones are started again from this list. */
export const openProcesses: Projection<OpenProcess> = {
  name: 'open-processes',
  version: 2,
  handles: 'all',
  idsOf: ({ meta: { process } }) => (process === undefined ? none : [JSON.stringify([process.name, process.id])]),
  evolve: (_, event) => (event.meta.process?.open === true ? processOf(event) : null),
  indexOf: (row) => ({ partition: OPEN_PROCESSES_PARTITION, order: placeOf(row), tag: row.name }),
};
