import type { Json } from '../../kernel/base/json.js';
import type { EventStore, OpenProcess } from '../../ports/event-store.js';
import type { Projection, ReadModels } from '../../ports/read-models.js';

/** How many rows are read from the read model in one page. */
const PAGE = 500;
/** How long to wait for the read model, in milliseconds. */
const CATCH_UP_MS = 10_000;

/** A read model whose rows are open processes, all in one partition and each with a distinct order. */
type OpenProcessModel = { readonly projection: Projection<OpenProcess & Json>; readonly partition: string };

/**
 * The open processes according to the read model, once it has handled what the store holds now. If it does not catch up within 10 s, its present rows
 * are listed anyway. A missing process was opened a moment ago and is still driven by the server that opened it. A process that is listed but over is
 * noticed as soon as it is folded.
 */
export const listOpenProcesses = async (
  readModels: ReadModels,
  events: Pick<EventStore, 'lastPosition'>,
  { projection, partition }: OpenProcessModel,
): Promise<readonly OpenProcess[]> => {
  await readModels.reachedPosition(projection, await events.lastPosition(), CATCH_UP_MS);
  const open: OpenProcess[] = [];
  for (let beyond: string | undefined; ;) {
    const query = { partition, direction: 'ascending', limit: PAGE } as const;
    const { rows, more } = await readModels.list(projection, beyond === undefined ? query : { ...query, beyond });
    for (const { row } of rows) open.push(row as unknown as OpenProcess);
    beyond = rows.at(-1)?.order;
    if (!more) return open;
  }
};
