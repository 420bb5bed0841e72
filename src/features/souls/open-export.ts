import { defined } from '../../kernel/base/defined.js';
import { jcs, type Json, type JsonObject } from '../../kernel/base/json.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import type { ProcessRepository } from '../../kernel/processes/process-repository.js';
import { soulExport, type SoulExportState } from '../../../workflows/soul-export.js';

/** How many of a mind's last events are looked at: those of a few exports. */
const EVENTS_LOOKED_AT = 64;
/** The members in which equal requests agree. */
const ASKED = ['npcState', 'persona', 'includeMemories', 'without', 'uploadedBy', 'storage', 'format'] as const;

export type OpenExportDeps = {
  readonly events: Pick<EventStore, 'read'>;
  readonly repository: ProcessRepository;
  readonly clock: Pick<Clock, 'now'>;
};

const asked = (data: { readonly [Member in (typeof ASKED)[number]]?: Json | undefined }): string =>
  jcs(defined(Object.fromEntries(ASKED.map((member) => [member, data[member]]))) as JsonObject);

/**
 * The export that a request joins: it is for the same request, is not over, has more than half of its time left, and nothing but exports has happened
 * to the mind since. Null if there is none. Propagates errors from the event store.
 * @param revision the end of the mind's stream
 */
export const openExport = async (
  { events, repository, clock }: OpenExportDeps,
  stream: string,
  request: Parameters<typeof asked>[0],
  revision: number,
): Promise<string | null> => {
  if (revision < 0) return null;
  const wanted = asked(request);
  const range = { direction: 'backwards', from: revision, limit: EVENTS_LOOKED_AT } as const;
  for (const { type, data, meta } of (await events.read(stream, range)).events) {
    if (!/^Soul(Export|Sealed)/.test(type)) return null;
    const { soulId, deadlineAt } = data;
    if (type !== 'SoulExportRequested' || typeof soulId !== 'string' || typeof deadlineAt !== 'string') continue;
    const leftMs = Date.parse(deadlineAt) - clock.now().getTime();
    const wholeMs = Date.parse(deadlineAt) - Date.parse(meta.at);
    if (leftMs <= wholeMs / 2) continue;
    // The parameters of the request may be large.
    await yieldToEventLoop();
    if (asked(data) !== wanted) continue;
    const { state } = await repository.load(soulExport, { process: soulExport.name, id: soulId, stream });
    if (!soulExport.over(state as SoulExportState)) return soulId;
  }
  return null;
};
