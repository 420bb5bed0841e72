import type { ReplayPlan } from './domain/events.js';
import type { ReadModels } from '../../ports/read-models.js';
import { npcs, type NpcRow } from '../../../projections/npcs.js';
import { Rejection } from '../../kernel/base/rejection.js';

/** How many minds are read at a time. */
const PAGE_MINDS = 200;

/** Ids of minds, one after the other. */
export type MindsAhead = AsyncGenerator<string, undefined, undefined>;

/**
 * The minds of a tenant after a given one, by id, including archived ones: their histories are kept. Minds without an event since `since` are left
 * out.
 * @throws Rejection READ_MODEL_BEHIND while the list lacks something that was recorded at acceptance, and errors from the read models
 */
export async function* rowsOfMinds(
  readModels: Pick<ReadModels, 'list' | 'reachedPosition'>,
  tenant: string,
  { upTo, since, after }: Pick<ReplayPlan, 'upTo' | 'since'> & { readonly after: string | null },
): AsyncGenerator<NpcRow, undefined, undefined> {
  if (!(await readModels.reachedPosition(npcs, upTo))) throw new Rejection('READ_MODEL_BEHIND', { retryAfter: 1 });
  for (let beyond = after; ;) {
    const page = await readModels.list(npcs, {
      ...{ partition: tenant, direction: 'ascending', limit: PAGE_MINDS },
      ...(beyond === null ? {} : { beyond }),
    });
    for (const { row } of page.rows) {
      const mind = row as NpcRow;
      if (since === undefined || mind.updatedAt >= since) yield mind;
    }
    const last = page.rows.at(-1);
    if (last === undefined || !page.more) return;
    beyond = last.order;
  }
}

/** The minds of a replay after one of them. Propagates errors from `rowsOfMinds`. */
export async function* mindsAfter(
  readModels: Pick<ReadModels, 'list' | 'reachedPosition'>,
  tenant: string,
  plan: Pick<ReplayPlan, 'npcIds' | 'upTo' | 'since'>,
  after: string | null,
): MindsAhead {
  if (plan.npcIds !== null) {
    for (const npcId of plan.npcIds) if (after === null || npcId > after) yield npcId;
    return;
  }
  for await (const { npcId } of rowsOfMinds(readModels, tenant, { ...plan, after })) yield npcId;
}
