import { isPlace } from './domain/leaf.js';
import { createJudge, type EventAuditDeps, type JudgeEvent } from './audit-event.js';
import { type AuditAnswer, type AuditPlace, Findings } from './audit-findings.js';
import { auditLog, type AuditLogDeps, logEventReader } from './audit-log.js';
import { auditOrder, FIRST_PLACE } from './audit-order.js';
import { logStatus } from './log-status.js';
import { isObject, type Json } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { logStream, npcStream } from '../../kernel/base/stream-names.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { GENESIS_HASH, storedHash } from '../../kernel/streams/hash-chain.js';
import { eventAt, pagesOf } from '../../kernel/streams/stream-pages.js';
import type { ReadModels } from '../../ports/read-models.js';

export type AuditDeps = AuditLogDeps & {
  readonly readModels: Pick<ReadModels, 'get' | 'reachedPosition'>;
  readonly upgradeEnd: EventAuditDeps['upgradeEnd'];
};

const notACursor = (): Rejection =>
  new Rejection('SCHEMA_INVALID', { message: '"after" is not the "next" of an earlier response.' });

/** @throws Rejection SCHEMA_INVALID */
const readPlace = (text: string): AuditPlace => {
  try {
    const place = JSON.parse(Buffer.from(text, 'base64url').toString()) as Json;
    const { npcId, from, order, log } = isObject(place) ? place : {};
    if (isPlace(log)) return { log };
    if (isObject(order) && Number.isInteger(order['position']) && isPlace(order['log']))
      return { order: { position: order['position'] as number, log: order['log'] } };
    if (typeof npcId === 'string' && isPlace(from)) return { npcId, from };
  } catch {
    // It is not a cursor of this server.
  }
  throw notACursor();
};

/**
 * Requires that a place is one where an audit of these minds, or of all, can be: beyond the end there is nothing to find.
 * @throws Rejection SCHEMA_INVALID
 */
const requirePlace = async (
  { events }: AuditDeps,
  tenant: string,
  npcIds: readonly string[] | undefined,
  place: AuditPlace,
): Promise<void> => {
  const isIn = async (stream: string, revision: number): Promise<boolean> =>
    (await eventAt(events, stream, revision))?.revision === revision;
  const log = logStream(tenant);
  if ('log' in place) {
    if (await isIn(log, place.log)) return;
  } else if ('order' in place) {
    const { position, log: round } = place.order;
    const isInOrder = npcIds === undefined && position < (await events.lastPosition());
    // A round that has not begun is at the end of the log.
    if (isInOrder && (round === 0 || (await isIn(log, round - 1)))) return;
  } else if (npcIds?.includes(place.npcId) === true) {
    if (place.from === 0 || (await isIn(npcStream(tenant, place.npcId), place.from))) return;
  }
  throw notACursor();
};

/** Checks the chain of a mind from a revision on. @returns where to continue; null at its end */
const auditChain = async (
  { events }: AuditDeps,
  judge: JudgeEvent,
  stream: string,
  from: number,
  found: Findings,
): Promise<number | null> => {
  const before = from === 0 ? undefined : await eventAt(events, stream, from - 1);
  let prevHash = before === undefined ? GENESIS_HASH : storedHash(before);
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from })) {
    if (page.lastRevision < 0) found.wrong(stream, 0, 'no such NPC exists');
    for (const event of page.events) {
      if (found.isFull) return event.revision;
      found.judged(event, await judge(event, prevHash));
      prevHash = storedHash(event);
      found.checked(stream);
      await yieldToEventLoop();
    }
  }
  return null;
};

/** Checks the chains of named minds, from one of them on. @returns where to continue; null if all were checked */
const auditChains = async (
  deps: AuditDeps,
  judge: JudgeEvent,
  tenant: string,
  npcIds: readonly string[],
  begin: { readonly npcId: string; readonly from: number } | null,
  found: Findings,
): Promise<AuditPlace | null> => {
  let from = begin?.from ?? 0;
  for (const npcId of npcIds.slice(begin === null ? 0 : npcIds.indexOf(begin.npcId))) {
    if (found.isFull) return { npcId, from };
    const next = await auditChain(deps, judge, npcStream(tenant, npcId), from, found);
    if (next !== null) return { npcId, from: next };
    from = 0;
  }
  return null;
};

/**
 * Checks what a tenant's log holds: every event against its chain and its seal, in the order in which all were written (`auditOrder`), then the log,
 * and each head in it against its stream. One response ends near ANSWER_EVENTS events and heads, and gives the place to continue from.
 * @param npcIds only these minds and the log; without it everything that the log holds
 * @throws Rejection SCHEMA_INVALID for an invalid place; errors from the event store and the read models
 */
export const auditTenant = async (
  deps: AuditDeps,
  tenant: string,
  { npcIds, after }: { readonly npcIds?: readonly string[]; readonly after?: string },
): Promise<AuditAnswer> => {
  const found = new Findings(await logStatus(deps.events, tenant));
  const place = after === undefined ? null : readPlace(after);
  if (place !== null) await requirePlace(deps, tenant, npcIds, place);
  const judge = createJudge(deps, tenant);
  const chains = async (): Promise<AuditPlace | null> => {
    if (place !== null && 'log' in place) return null;
    // Each once: an answer identifies where to continue by name.
    if (npcIds !== undefined)
      return auditChains(
        ...([deps, judge, tenant, [...new Set(npcIds)]] as const),
        place !== null && 'npcId' in place ? place : null,
        found,
      );
    const begin = place !== null && 'order' in place ? place.order : FIRST_PLACE;
    const order = await auditOrder({ ...deps, judge, logEventIn: logEventReader(deps) }, tenant, begin, found);
    return order && { order };
  };
  const named = npcIds === undefined ? null : new Set(npcIds.map((npcId) => npcStream(tenant, npcId)));
  const next =
    (await chains()) ??
    (await auditLog(deps, judge, tenant, place !== null && 'log' in place ? place.log : 0, named, found));
  return found.answer(deps, next);
};
