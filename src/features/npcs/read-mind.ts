import { requireRevision } from './find-mind.js';
import { waitForRevision } from '../../kernel/read-models/read-wait.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { EventStore } from '../../ports/event-store.js';
import { minRevision } from '../../kernel/http/min-revision.js';
import type { Call } from '../../kernel/http/route.js';

/**
 * The mind that a request reads, once its stream has reached the revision that the request asks for. `revision` is the last one before that.
 * @throws Rejection NPC_NOT_FOUND, HEADER_INVALID, and as waitForRevision
 */
export const readMind = async (events: EventStore, call: Call<{ npcId: string }>) => {
  const { tenant } = call.principal;
  const { npcId } = call.params;
  const revision = await requireRevision(events, tenant, npcId);
  const stream = npcStream(tenant, npcId);
  await waitForRevision(events, stream, minRevision(call));
  return { tenant, npcId, stream, revision };
};
