import {
  MOST_CHARS_IN_ONE,
  MOST_IN_ONE,
  playerNames,
  type PlayerNameRow,
  TOO_MANY,
} from '../../../projections/player-names.js';
import { defined } from '../../kernel/base/defined.js';
import { isObject, type Json, type JsonObject, jsonBytes } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ReadModels } from '../../ports/read-models.js';
import { tracesIn, type PlayerIndex } from './domain/player-index.js';
import { memoryPauses } from './memory-pauses.js';

/** How many traces are looked up at a time, and how many rows are read at a time. */
const TRACES = 200;
const PAGE = 500;

type TenantPlayersDeps = {
  readonly readModels: Pick<ReadModels, 'list' | 'reachedPosition'>;
  readonly events: Pick<EventStore, 'lastPosition'>;
};

const collect = (value: Json, found: Set<string>): void => {
  if (typeof value === 'string' || typeof value === 'number')
    for (const trace of tracesIn(String(value))) found.add(trace);
  else if (Array.isArray(value)) for (const item of value as readonly Json[]) collect(item, found);
  else if (isObject(value)) {
    for (const [member, inner] of Object.entries(value)) {
      collect(member, found);
      collect(inner, found);
    }
  }
};

function* tracesOfAll(values: readonly Json[]): Sliced<readonly string[]> {
  const found = new Set<string>();
  const isPauseDue = memoryPauses();
  for (const value of values) {
    collect(value, found);
    const size = jsonBytes(value);
    if (isPauseDue(size)) yield size;
  }
  return [...found];
}

/**
 * Notes the players whom bodies named to any mind of a tenant, if their names may occur in these values. The work depends on the values, not on how
 * many minds or players the tenant has.
 * @throws Rejection READ_MODEL_BEHIND while a player who was named before this call may be missing; SOUL_TOO_LARGE for more players than are
 * distinguished, or more in one event than are kept; the reason of the signal; what the event store and the read models throw
 */
export const noteTenantPlayers = async (
  { readModels, events }: TenantPlayersDeps,
  tenant: string,
  values: readonly Json[],
  index: PlayerIndex,
  signal?: AbortSignal,
): Promise<void> => {
  if (!(await readModels.reachedPosition(playerNames, await events.lastPosition())))
    throw new Rejection('READ_MODEL_BEHIND', { retryAfter: 1 });
  const uncounted = { partition: tenant, tags: [TOO_MANY], direction: 'ascending', limit: 1 } as const;
  if ((await readModels.list(playerNames, uncounted)).rows.length > 0)
    throw new Rejection('SOUL_TOO_LARGE', {
      details: { playersInOneEventLimit: MOST_IN_ONE, playerCharsInOneEventLimit: MOST_CHARS_IN_ONE },
    });
  const traces = await inSlices(tracesOfAll(values));
  for (let from = 0; from < traces.length; from += TRACES) {
    const tags = traces.slice(from, from + TRACES);
    const query = { partition: tenant, tags, direction: 'ascending', limit: PAGE } as const;
    for (let beyond: string | undefined; ;) {
      signal?.throwIfAborted();
      const { rows, more } = await readModels.list(playerNames, { ...query, ...defined({ beyond }) });
      for (const { row } of rows) index.note({ player: (row as unknown as PlayerNameRow).player as JsonObject });
      if (!more) break;
      beyond = rows.at(-1)?.order;
    }
  }
};
