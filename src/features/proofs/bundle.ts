import type { Leaf } from './domain/leaf.js';
import {
  type CheckpointAt,
  checkpointBeforePosition,
  checkpointOfSize,
  logEventOf,
  logEventThrough,
  type LogReads,
  newestCheckpoint,
} from './log.js';
import { toHex } from './domain/edge.js';
import { consistencySpans, inclusionSpans } from './domain/proofs.js';
import { jcs, type Json, type JsonObject } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { logStream, npcStream } from '../../kernel/base/stream-names.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { GENESIS_HASH } from '../../kernel/streams/hash-chain.js';
import { eventAt, pagesOf } from '../../kernel/streams/stream-pages.js';
import { openLogTree } from './log-tree.js';
import { firstRevision } from './search-stream.js';

/** How many characters are yielded at a time. */
const CHUNK_CHARS = 64 * 1024;
/** How many leaves are searched for the newest one of a mind: some seconds of reading. */
const SEARCHED_LEAVES = 1_000_000;

export type BundleQuery = {
  readonly tenant: string;
  readonly npcId: string;
  readonly from: number;
  readonly to: number;
  /** The size of a checkpoint that the bundle's checkpoint must be proven to extend. */
  readonly extends?: number;
  readonly madeAt: string;
  readonly keys: readonly JsonObject[];
};

const line = (value: Json): string => `${jcs(value)}\n`;

/** An event as its chain covers it (docs/reference/formats/hash-chain.md), with its hash. */
const eventLine = ({ stream, revision, id, type, data, meta }: RecordedEvent): string => {
  const { tenant, actor, at, causationId, commandId, correlationId, schemaVersion, prevHash, hash } = meta;
  const about = { actor, at, causationId, commandId, correlationId, schemaVersion, tenant };
  return line({ ...about, stream, revision, id, type, data, prevHash, hash });
};

/** @throws Rejection PROOF_NOT_FOUND if the other tree is larger than the checkpoint's, or empty */
const requireWithin = (checkpoint: CheckpointAt, from: number): void => {
  if (from >= 1 && from <= checkpoint.size) return;
  throw new Rejection('PROOF_NOT_FOUND', {
    message:
      from < 1
        ? '"from" must be at least 1.'
        : `A log of size ${String(checkpoint.size)} cannot extend one of size ${String(from)}. If it is the latest one of this server, the log was truncated or restored from an older backup.`,
    details: { from, size: checkpoint.size },
  });
};

/** The path from a smaller tree of the log to a checkpoint's tree, as hex. @throws Rejection PROOF_NOT_FOUND if the other tree is larger, or empty */
export const consistencyPath = async (
  events: Pick<EventStore, 'read'>,
  tenant: string,
  checkpoint: CheckpointAt,
  from: number,
): Promise<readonly string[]> => {
  requireWithin(checkpoint, from);
  if (from === checkpoint.size) return [];
  const tree = openLogTree(events, logStream(tenant), checkpoint);
  return (await tree.roots(consistencySpans(from, checkpoint.size))).map(toHex);
};

/** The proof that a head of a mind is in the log. */
type MindProof = {
  readonly size: number;
  readonly leaf: Leaf;
  readonly index: number;
  readonly path: readonly string[];
  readonly note: string;
};

/** The checkpoint of this size, or the newest. @throws Rejection CHECKPOINT_NOT_FOUND */
export const requireCheckpoint = async (events: LogReads, tenant: string, size?: number): Promise<CheckpointAt> => {
  const found = await (size === undefined ? newestCheckpoint(events, tenant) : checkpointOfSize(events, tenant, size));
  if (found === null) throw new Rejection('CHECKPOINT_NOT_FOUND', size === undefined ? {} : { details: { size } });
  return found;
};

/**
 * The newest head of a mind in the log up to a revision, in a checkpoint. The head of a round is the mind's last event up to the position at which
 * that round ended, so it is found by binary search: the rounds by position, then the mind's stream, then the batches. Null if there is none yet.
 * @param upTo the highest revision of the leaf; the mind must have it
 */
export const proveMind = async (
  events: LogReads,
  { tenant, npcId }: { readonly tenant: string; readonly npcId: string },
  upTo: number,
  checkpoint: CheckpointAt,
): Promise<MindProof | null> => {
  const stream = npcStream(tenant, npcId);
  const later = await eventAt(events, stream, upTo + 1);
  const round = later === undefined ? checkpoint : await checkpointBeforePosition(events, tenant, later.position);
  if (round === null) return null;
  const through = Math.min(round.through, checkpoint.through);
  const beyond = await firstRevision(events, stream, upTo, ({ position }) => position > through);
  const head = beyond === 0 ? undefined : await eventAt(events, stream, beyond - 1);
  if (head === undefined) return null;
  const batch = await logEventThrough(events, tenant, head.position);
  if (batch?.type !== 'LeavesLogged') return null;
  const place = batch.data.leaves.findIndex((leaf) => leaf.stream === stream);
  const leaf = batch.data.leaves[place];
  return leaf === undefined ? null : proveLeaf(events, tenant, { leaf, index: batch.data.size + place }, checkpoint);
};

/** A leaf of a log, and its index. */
type PlacedLeaf = { readonly leaf: Leaf; readonly index: number };

const proveLeaf = async (
  events: LogReads,
  tenant: string,
  { leaf, index }: PlacedLeaf,
  checkpoint: CheckpointAt,
): Promise<MindProof> => {
  const { size, note } = checkpoint;
  const path = await openLogTree(events, logStream(tenant), checkpoint).roots(inclusionSpans(index, size));
  return { size, leaf, index, path: path.map(toHex), note };
};

/**
 * The newest leaf of a stream in a checkpoint, found from the end of the log by its name alone: the events and positions of a stream that was cut
 * say nothing about what is missing. Null if the newest SEARCHED_LEAVES have none.
 */
const newestLeaf = async (
  events: LogReads,
  tenant: string,
  stream: string,
  checkpoint: CheckpointAt,
): Promise<PlacedLeaf | null> => {
  let searched = 0;
  const range = { direction: 'backwards', from: checkpoint.revision } as const;
  for await (const page of pagesOf(events, logStream(tenant), range)) {
    for (const event of page.events.map(logEventOf)) {
      if (event.type !== 'LeavesLogged') continue;
      const { leaves, size } = event.data;
      const place = leaves.findLastIndex((leaf) => leaf.stream === stream);
      const leaf = leaves[place];
      if (leaf !== undefined) return { leaf, index: size + place };
      searched += leaves.length;
    }
    if (searched >= SEARCHED_LEAVES) return null;
  }
  return null;
};

/**
 * What the log says about a part of a history: the newest head within it, or else one beyond it, which shows up to where the log reaches. Null if it
 * has neither. If the part ends where the history ends, a head beyond it comes first: the history was cut.
 */
const provePart = async (
  events: LogReads,
  { tenant, npcId, from, to }: Pick<BundleQuery, 'tenant' | 'npcId' | 'from' | 'to'>,
  last: number,
  checkpoint: CheckpointAt,
): Promise<MindProof | null> => {
  if (to === last) {
    const missing = await newestLeaf(events, tenant, npcStream(tenant, npcId), checkpoint);
    if (missing !== null && missing.leaf.revision > last) return proveLeaf(events, tenant, missing, checkpoint);
  }
  const within = await proveMind(events, { tenant, npcId }, to, checkpoint);
  if (within !== null && within.leaf.revision >= from) return within;
  const newest = await proveMind(events, { tenant, npcId }, last, checkpoint);
  return newest !== null && newest.leaf.revision > to ? newest : null;
};

/**
 * A part of a mind's history that proves itself: a header, the events, and their proof in the log of the tenant, each a line of JSON in JCS form. It
 * is yielded in chunks, so memory does not grow with the stream. Propagates errors from the event store.
 */
export async function* bundleOf(
  events: Pick<EventStore, 'read'>,
  query: BundleQuery,
): AsyncGenerator<string, void, undefined> {
  const { tenant, npcId, from, to, extends: earlier, madeAt, keys } = query;
  const stream = npcStream(tenant, npcId);
  // Before anything is yielded: a later failure could only cut the response off.
  const checkpoint = await newestCheckpoint(events, tenant);
  const path =
    checkpoint === null || earlier === undefined
      ? undefined
      : await consistencyPath(events, tenant, checkpoint, earlier);
  // After the checkpoint was read: all that it covers had been written by then.
  const { lastRevision: last } = await events.read(stream, { direction: 'backwards', limit: 1 });
  const found = checkpoint && (await provePart(events, query, last, checkpoint));
  const isBeyond = found !== null && found.leaf.revision > to;
  const before = from === 0 ? undefined : await eventAt(events, stream, from - 1);
  const prevHash = before?.meta.hash ?? GENESIS_HASH;
  const version = isBeyond ? 2 : 1;
  let chunk = line({ bundle: 'anima-history', version, tenant, npcId, stream, from, to, prevHash, madeAt, keys });
  let head = { revision: -1, hash: prevHash };
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from, to })) {
    for (const event of page.events) {
      chunk += eventLine(event);
      head = { revision: event.revision, hash: event.meta.hash };
      if (chunk.length < CHUNK_CHARS) continue;
      yield chunk;
      chunk = '';
    }
  }
  const shown = path === undefined || earlier === undefined ? {} : { extends: { from: earlier, path } };
  const proof = found && { ...found, ...shown };
  yield chunk + line({ events: to - from + 1, head, proof, ...(isBeyond ? { last } : {}) });
}
