import { npcs, type NpcRow } from '../../../projections/npcs.js';
import { readCheckpoint } from './domain/checkpoint.js';
import { type Edge, growEdge, rootOfEdge, toHex } from './domain/edge.js';
import { isLeaf, isPlace, type Leaf, leafHash } from './domain/leaf.js';
import { logEvents, type LeafBatch, type SignedCheckpoint } from './domain/events.js';
import { signerOf } from './domain/note.js';
import { isObject, type Json } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { logStream, npcStream, parseNpcStream } from '../../kernel/base/stream-names.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { ReadModels } from '../../ports/read-models.js';
import type { SigningKeys } from '../../ports/signing-keys.js';
import { lookAtChain } from '../npcs/chain-breaks.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { breaksOf, GENESIS_HASH } from '../../kernel/streams/hash-chain.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import { logFold } from './log-fold.js';
import { keyOfJwk } from './verify-bundle.js';

/** An answer ends after this many events and heads, or this many broken items. */
const ANSWER_EVENTS = 200_000;
const ANSWER_BROKEN = 200;
/** How many names of minds are read at a time. */
const MINDS_PAGE = 100;

export type AuditDeps = {
  readonly events: EventStore;
  readonly writers: StreamWriters;
  readonly readModels: Pick<ReadModels, 'list'>;
  readonly signingKeys: Pick<SigningKeys, 'publicJwks'>;
};

/** A mismatch in a mind, or in the log itself (`npcId` null; the revision is the log's). */
export type Broken = { readonly npcId: string | null; readonly revision: number; readonly reason: string };

export type AuditAnswer = {
  readonly valid: boolean;
  readonly streams: number;
  readonly events: number;
  readonly broken: readonly Broken[];
  readonly next?: string;
};

/** Where an audit continues: at an event of the chain of a mind, or of the log. */
type AuditPlace = { readonly npcId: string | null; readonly from: number } | { readonly log: number };

const writePlace = (place: AuditPlace): string => Buffer.from(JSON.stringify(place)).toString('base64url');

/** @throws Rejection SCHEMA_INVALID */
const readPlace = (text: string): AuditPlace => {
  try {
    const place = JSON.parse(Buffer.from(text, 'base64url').toString()) as Json;
    if (isObject(place) && isPlace(place['log'])) return { log: place['log'] };
    const { npcId, from } = isObject(place) ? place : {};
    if (typeof npcId === 'string' && isPlace(from)) return { npcId, from };
  } catch {
    // It is not a cursor of this server.
  }
  throw new Rejection('SCHEMA_INVALID', { message: '"after" is not the "next" of an earlier response.' });
};

/** The minds to look at, beginning with a given one: the named ones, otherwise all of the tenant by name. */
async function* mindsFrom(
  { readModels }: AuditDeps,
  tenant: string,
  named: readonly string[] | null,
  first: string | null,
): AsyncGenerator<string, void> {
  if (named !== null) {
    yield* named.slice(first === null ? 0 : Math.max(0, named.indexOf(first)));
    return;
  }
  if (first !== null) yield first;
  for (let beyond = first ?? undefined; ;) {
    const at = beyond === undefined ? {} : { beyond };
    const page = await readModels.list(npcs, { partition: tenant, direction: 'ascending', limit: MINDS_PAGE, ...at });
    for (const { row } of page.rows) yield (row as unknown as NpcRow).npcId;
    beyond = page.rows.at(-1)?.order;
    if (!page.more || beyond === undefined) return;
  }
}

/** The accumulated answer. */
class Findings {
  readonly broken: Broken[] = [];
  readonly streams = new Set<string>();
  events = 0;

  get isFull(): boolean {
    return this.events >= ANSWER_EVENTS || this.broken.length >= ANSWER_BROKEN;
  }

  answer(next: AuditPlace | null): AuditAnswer {
    const { broken, streams, events } = this;
    return {
      valid: broken.length === 0,
      streams: streams.size,
      events,
      broken,
      ...(next === null ? {} : { next: writePlace(next) }),
    };
  }
}

/** Checks the chains of minds. @returns where to continue; null if all were checked */
const auditChains = async (
  deps: AuditDeps,
  tenant: string,
  minds: AsyncIterable<string>,
  begin: number,
  found: Findings,
): Promise<AuditPlace | null> => {
  let from = begin;
  for await (const npcId of minds) {
    for (let next: number | undefined = from; next !== undefined;) {
      if (found.isFull) return { npcId, from: next };
      const look = await lookAtChain(deps.events, npcStream(tenant, npcId), next);
      if (look.revision < 0) found.broken.push({ npcId, revision: 0, reason: 'no such NPC exists' });
      else found.streams.add(npcId);
      found.events += look.events;
      for (const { revision, member, acknowledged } of look.breaks) {
        const reason =
          member === 'hash' ? 'its content does not match its hash' : 'it does not follow the previous event';
        if (!acknowledged) found.broken.push({ npcId, revision, reason });
      }
      next = look.next;
    }
    from = 0;
  }
  return null;
};

/** Why a head in the log does not match its stream; null if it does. */
const headReason = ({ revision, hash, at }: Leaf, event: RecordedEvent | undefined, last: number): string | null => {
  if (last < 0) return 'the NPC is in the log, but its stream is missing';
  if (event?.revision !== revision)
    return `the stream was truncated: the log contains its revision ${String(revision)}, but it ends at ${String(last)}`;
  if (event.meta.hash !== hash || event.meta.at !== at) return 'the event differs from the one in the log';
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
    const npcId = parseNpcStream(leaf.stream)?.npcId ?? leaf.stream;
    if (named?.has(npcId) === false) continue;
    const page = await events.read(leaf.stream, { direction: 'forwards', from: leaf.revision, limit: 1 });
    const reason = headReason(leaf, page.events[0], page.lastRevision);
    if (reason !== null) found.broken.push({ npcId, revision: leaf.revision, reason });
    found.events += 1;
    found.streams.add(npcId);
  }
};

/** Whether a batch has a valid form: anyone who can write to the store can write anything. */
const isBatch = ({ leaves, after }: Partial<LeafBatch>): boolean =>
  Array.isArray(leaves) && leaves.every(isLeaf) && Array.isArray(after) && after.every(isObject);

const checkpointReason = (
  { origin, size, root, at, note, kid }: SignedCheckpoint,
  edge: Edge,
  keys: readonly { readonly kid: string; readonly x: string }[],
): string | null => {
  if (toHex(rootOfEdge(edge)) !== root) return 'the root of the checkpoint does not match the leaves before it';
  const read = typeof note === 'string' ? readCheckpoint(note) : null;
  const said = read?.checkpoint;
  if (said?.origin !== origin || said.size !== size || said.at !== at || toHex(said.root) !== root)
    return 'the note of the checkpoint does not match it';
  const own = keys.filter((key) => key.kid === kid);
  return read !== null && signerOf(read.note, origin, own) !== null
    ? null
    : 'the note is not signed by the key that it names';
};

/** Checks the log itself, and each head in it. @returns where to continue; null at its end */
const auditLog = async (
  deps: AuditDeps,
  tenant: string,
  begin: number,
  named: ReadonlySet<string> | null,
  found: Findings,
): Promise<AuditPlace | null> => {
  const stream = logStream(tenant);
  const keys = (await deps.signingKeys.publicJwks()).map(keyOfJwk).filter((key) => key !== null);
  let { edge, size } =
    begin === 0 ? logFold.initial : (await deps.writers.asOf(stream, logFold, { revision: begin - 1 })).state;
  const before =
    begin === 0
      ? undefined
      : (await deps.events.read(stream, { direction: 'forwards', from: begin - 1, limit: 1 })).events[0];
  let prevHash = before?.meta.hash ?? GENESIS_HASH;
  const wrong = (revision: number, reason: string): void => void found.broken.push({ npcId: null, revision, reason });
  for await (const page of pagesOf(deps.events, stream, { direction: 'forwards', from: begin })) {
    for (const recorded of page.events) {
      if (found.isFull) return { log: recorded.revision };
      const { revision } = recorded;
      if (breaksOf(recorded, prevHash).length > 0) wrong(revision, 'the hash chain of the log is broken');
      prevHash = recorded.meta.hash;
      const event = logEvents.decode(recorded);
      if (event.type === 'LeavesLogged' && !isBatch(event.data)) wrong(revision, 'it is not a batch of leaves');
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
        const reason = checkpointReason(event.data, edge, keys);
        if (reason !== null) wrong(revision, reason);
      }
      await yieldToEventLoop();
    }
  }
  return null;
};

/**
 * Checks a tenant's minds against themselves and against its log: the chain of each mind, then the log, and each head in it against its stream. One
 * response ends near ANSWER_EVENTS events and heads, and gives the place to continue from.
 * @param npcIds only these minds; all without it
 * @throws Rejection SCHEMA_INVALID for an invalid place; errors from the event store and the read models
 */
export const auditMinds = async (
  deps: AuditDeps,
  tenant: string,
  { npcIds, after }: { readonly npcIds?: readonly string[]; readonly after?: string },
): Promise<AuditAnswer> => {
  const found = new Findings();
  const place: AuditPlace = after === undefined ? { npcId: null, from: 0 } : readPlace(after);
  if (!('log' in place)) {
    // Each once: an answer identifies where to continue by name.
    const minds = mindsFrom(deps, tenant, npcIds === undefined ? null : [...new Set(npcIds)], place.npcId);
    const next = await auditChains(deps, tenant, minds, place.from, found);
    if (next !== null) return found.answer(next);
  }
  const named = npcIds === undefined ? null : new Set(npcIds);
  return found.answer(await auditLog(deps, tenant, 'log' in place ? place.log : 0, named, found));
};
