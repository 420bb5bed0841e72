import { readCheckpoint } from './domain/checkpoint.js';
import { type Edge, growEdge, peakSpans, rootOfEdge, toHex } from './domain/edge.js';
import { isHexHash, isLeaf, isPlace, type Leaf, leafHash } from './domain/leaf.js';
import { logEvents, type LeafBatch, type LogEvent, type SignedCheckpoint } from './domain/events.js';
import type { LogState } from './domain/state.js';
import { signersOf } from './domain/note.js';
import type { UnknownEvent } from '../../kernel/base/decoder.js';
import { isObject, type Json } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { logStream, npcStream, parseNpcStream } from '../../kernel/base/stream-names.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { ReadModels } from '../../ports/read-models.js';
import type { SigningKeys } from '../../ports/signing-keys.js';
import { createJudge, type EventAuditDeps, type EventFaults, type JudgeEvent } from './audit-event.js';
import { auditOrder, FIRST_PLACE, type OrderPlace } from './audit-order.js';
import { type Acknowledgement, acknowledgedOf } from '../npcs/chain-breaks.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { type ChainBreak, GENESIS_HASH, storedHash } from '../../kernel/streams/hash-chain.js';
import type { EventChecks } from '../../kernel/streams/event-checks.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { eventAt, pagesOf } from '../../kernel/streams/stream-pages.js';
import { type LogStatus, logStatus } from './log-status.js';
import { logFold } from './log-fold.js';
import { keyOfJwk } from './read-bundle.js';

/** An answer ends after this many events and heads, or this many broken items. */
const ANSWER_EVENTS = 200_000;
const ANSWER_BROKEN = 200;

export type AuditDeps = {
  readonly events: EventStore;
  readonly writers: StreamWriters;
  readonly readModels: Pick<ReadModels, 'get' | 'reachedPosition'>;
  readonly checks: Pick<EventChecks, 'isBroken' | 'requireGood'>;
  readonly upgradeEnd: EventAuditDeps['upgradeEnd'];
  readonly signingKeys: Pick<SigningKeys, 'publicJwks' | 'isVoid'>;
};

/** A mismatch in a stream, which may be the log. `npcId` is null for streams that are not of an NPC. */
export type Broken = {
  readonly stream: string;
  readonly npcId: string | null;
  readonly revision: number;
  readonly reason: string;
  /** An acknowledged break stays broken, so that nobody can talk an audit out of what it found. */
  readonly acknowledged: Acknowledgement | null;
};

export type AuditAnswer = {
  readonly valid: boolean;
  readonly streams: number;
  readonly events: number;
  readonly broken: readonly Broken[];
  /** Null if there is no log that can be read: then nothing was compared with it, and nothing counts as valid. */
  readonly log: LogStatus | null;
  readonly next?: string;
};

/** Where an audit continues: at an event of the chain of a named mind, in the global order, or at an event of the log. */
type AuditPlace =
  { readonly npcId: string; readonly from: number } | { readonly order: OrderPlace } | { readonly log: number };

const writePlace = (place: AuditPlace): string => Buffer.from(JSON.stringify(place)).toString('base64url');

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

const breakReason = ({ member }: ChainBreak): string =>
  member === 'hash' ? 'its content does not match its hash' : 'it does not follow the previous event';

/** The accumulated answer. */
class Findings {
  readonly #broken: (Omit<Broken, 'npcId'> & { readonly found?: ChainBreak })[] = [];
  readonly streams = new Set<string>();
  events = 0;
  readonly #log: LogStatus | null;

  constructor(log: LogStatus | null) {
    this.#log = log;
  }

  wrong(stream: string, revision: number, reason: string): void {
    this.#broken.push({ stream, revision, reason, acknowledged: null });
  }

  judged({ stream, revision }: RecordedEvent, { breaks, reasons }: EventFaults): void {
    for (const found of breaks)
      this.#broken.push({ stream, revision, reason: breakReason(found), acknowledged: null, found });
    for (const reason of reasons) this.wrong(stream, revision, reason);
  }

  checked(stream: string): void {
    this.streams.add(stream);
    this.events += 1;
  }

  get isFull(): boolean {
    return this.events >= ANSWER_EVENTS || this.#broken.length >= ANSWER_BROKEN;
  }

  /** What the streams say of their breaks; each is read once. */
  async #acknowledged(deps: AuditDeps): Promise<ReadonlyMap<ChainBreak, Acknowledgement | null>> {
    const of = new Map<ChainBreak, Acknowledgement | null>();
    for (const stream of new Set(this.#broken.map((one) => one.stream))) {
      const found = this.#broken.flatMap((one) =>
        one.stream === stream && one.found !== undefined ? [one.found] : [],
      );
      const { breaks } = await acknowledgedOf(deps, stream, found);
      found.forEach((one, place) => of.set(one, breaks[place]?.acknowledged ?? null));
    }
    return of;
  }

  async answer(deps: AuditDeps, next: AuditPlace | null): Promise<AuditAnswer> {
    const of = await this.#acknowledged(deps);
    const broken = this.#broken.map(({ found, ...one }) => ({
      ...one,
      npcId: parseNpcStream(one.stream)?.npcId ?? null,
      acknowledged: (found && of.get(found)) ?? null,
    }));
    return {
      valid: broken.length === 0 && this.#log !== null,
      streams: this.streams.size,
      events: this.events,
      broken,
      log: this.#log,
      ...(next === null ? {} : { next: writePlace(next) }),
    };
  }
}

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

/** Why a head in the log does not match its stream; null if it does. */
const headReason = ({ revision, hash, at }: Leaf, event: RecordedEvent | undefined, last: number): string | null => {
  if (last < 0) return 'it is in the log, but its stream is missing';
  if (event?.revision !== revision)
    return `the stream was truncated: the log contains its revision ${String(revision)}, but it ends at ${String(last)}`;
  if (storedHash(event) !== hash || event.meta.at !== at) return 'the event differs from the one in the log';
  return null;
};

/** Compares each head of a batch with its stream. */
const auditLeaves = async (
  { events }: AuditDeps,
  { leaves }: LeafBatch,
  named: ReadonlySet<string> | null,
  found: Findings,
): Promise<void> => {
  for (const leaf of leaves) {
    if (named?.has(leaf.stream) === false) continue;
    const page = await events.read(leaf.stream, { direction: 'forwards', from: leaf.revision, limit: 1 });
    const reason = headReason(leaf, page.events[0], page.lastRevision);
    if (reason !== null) found.wrong(leaf.stream, leaf.revision, reason);
    found.checked(leaf.stream);
  }
};

/** Whether a leaf can be hashed: half a character has no UTF-8. */
const isHashable = (leaf: unknown): boolean => isLeaf(leaf) && leaf.stream.isWellFormed() && leaf.at.isWellFormed();

/** Whether a batch has a valid form: anyone who can write to the store can write anything. */
const isBatch = ({ leaves, after }: Partial<LeafBatch>): boolean =>
  Array.isArray(leaves) && leaves.every(isHashable) && Array.isArray(after) && after.every(isObject);

/** Whether a tree of this size can have this edge. */
const isEdge = (edge: unknown, size: unknown): boolean =>
  isPlace(size) &&
  Array.isArray(edge) &&
  edge.length === peakSpans(size).length &&
  edge.every((peak) => isObject(peak) && isHexHash(peak['hash']));

/** The tree before an event of the log, as its events say; null if they do not say it in a form that a server writes. */
const treeBefore = async (
  { writers }: AuditDeps,
  stream: string,
  revision: number,
): Promise<Pick<LogState, 'edge' | 'size'> | null> => {
  if (revision === 0) return logFold.initial;
  try {
    const { state } = await writers.asOf(stream, logFold, { revision: revision - 1 });
    return isEdge(state.edge, state.size) ? state : null;
  } catch (error) {
    // One of a newer server would have been refused before its successors were asked for.
    if (error instanceof Rejection && error.code !== 'EVENT_VERSION_UNKNOWN') throw error;
    return null;
  }
};

/**
 * Reads an event of the log; null if it was changed so that it is not one. An intact one of a newer server is refused.
 * @throws Rejection EVENT_VERSION_UNKNOWN
 */
const logEventReader =
  ({ checks }: AuditDeps) =>
  async (recorded: RecordedEvent): Promise<LogEvent | UnknownEvent | null> => {
    try {
      return isObject(recorded.data) ? logEvents.decode(recorded) : null;
    } catch (error) {
      if (storedHash(recorded) === '' || (await checks.isBroken(recorded))) return null;
      throw error;
    }
  };

const checkpointReason = (
  { origin, size, root, at, note, kid }: SignedCheckpoint,
  edge: Edge,
  keys: readonly { readonly kid: string; readonly x: string }[],
  isVoid: SigningKeys['isVoid'],
): string | null => {
  if (toHex(rootOfEdge(edge)) !== root) return 'the root of the checkpoint does not match the leaves before it';
  const read = typeof note === 'string' ? readCheckpoint(note) : null;
  const said = read?.checkpoint;
  if (said?.origin !== origin || said.size !== size || said.at !== at || toHex(said.root) !== root)
    return 'the note of the checkpoint does not match it';
  const own = keys.filter((key) => key.kid === kid);
  if (read === null || signersOf(read.note, origin, own).length === 0)
    return 'the note is not signed by the key that it names';
  return isVoid(kid, new Date(at)) ? 'the key that signed the note was revoked as of an earlier time' : null;
};

/** Checks the log itself, and each head in it. @returns where to continue; null at its end */
const auditLog = async (
  deps: AuditDeps,
  judge: JudgeEvent,
  tenant: string,
  begin: number,
  named: ReadonlySet<string> | null,
  found: Findings,
): Promise<AuditPlace | null> => {
  const stream = logStream(tenant);
  const logEventIn = logEventReader(deps);
  const keys = (await deps.signingKeys.publicJwks()).map(keyOfJwk).filter((key) => key !== null);
  const wrong = (revision: number, reason: string): void => found.wrong(stream, revision, reason);
  const tree = await treeBefore(deps, stream, begin);
  if (tree === null) wrong(begin, 'the tree of the log before it cannot be read');
  let { edge, size } = tree ?? logFold.initial;
  const before = begin === 0 ? undefined : await eventAt(deps.events, stream, begin - 1);
  let prevHash = before === undefined ? GENESIS_HASH : storedHash(before);
  for await (const page of pagesOf(deps.events, stream, { direction: 'forwards', from: begin })) {
    for (const recorded of page.events) {
      if (found.isFull) return { log: recorded.revision };
      const { revision } = recorded;
      const { breaks, reasons } = await judge(recorded, prevHash);
      if (breaks.length > 0) wrong(revision, 'the hash chain of the log is broken');
      for (const reason of reasons) wrong(revision, reason);
      prevHash = storedHash(recorded);
      const event = await logEventIn(recorded);
      if (event === null) wrong(revision, 'it is not an event of a log');
      else if (event.type === 'LeavesLogged' && !isBatch(event.data)) wrong(revision, 'it is not a batch of leaves');
      else if (event.type === 'LeavesLogged') {
        const { data } = event;
        edge = growEdge(edge, size, data.leaves.map(leafHash), revision);
        if (
          data.size !== size ||
          JSON.stringify(edge.map(({ hash }) => hash)) !== JSON.stringify(data.after.map(({ hash }) => hash))
        )
          wrong(revision, 'the tree of the log does not match its leaves');
        size += data.leaves.length;
        await auditLeaves(deps, data, named, found);
      } else if (event.type === 'CheckpointSigned') {
        const reason = checkpointReason(event.data, edge, keys, (kid, at) => deps.signingKeys.isVoid(kid, at));
        if (reason !== null) wrong(revision, reason);
      }
      await yieldToEventLoop();
    }
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
