import { readCheckpoint } from './domain/checkpoint.js';
import { type Edge, growEdge, peakSpans, rootOfEdge, toHex } from './domain/edge.js';
import { isHexHash, isLeaf, isPlace, type Leaf, leafHash } from './domain/leaf.js';
import { logEvents, type LeafBatch, type LogEvent, type SignedCheckpoint } from './domain/events.js';
import type { LogState } from './domain/state.js';
import { signersOf } from './domain/note.js';
import type { JudgeEvent } from './audit-event.js';
import type { AuditPlace, Findings } from './audit-findings.js';
import type { UnknownEvent } from '../../kernel/base/decoder.js';
import { isObject } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { logStream } from '../../kernel/base/stream-names.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import type { EventChecks } from '../../kernel/streams/event-checks.js';
import { GENESIS_HASH, storedHash } from '../../kernel/streams/hash-chain.js';
import { eventAt, pagesOf } from '../../kernel/streams/stream-pages.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { SigningKeys } from '../../ports/signing-keys.js';
import { logFold } from './log-fold.js';
import { keyOfJwk } from './read-bundle.js';

export type AuditLogDeps = {
  readonly events: EventStore;
  readonly writers: StreamWriters;
  readonly checks: Pick<EventChecks, 'isBroken' | 'requireGood'>;
  readonly signingKeys: Pick<SigningKeys, 'publicJwks' | 'isVoid'>;
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
  { events }: AuditLogDeps,
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
  { writers }: AuditLogDeps,
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
export const logEventReader =
  ({ checks }: AuditLogDeps) =>
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
export const auditLog = async (
  deps: AuditLogDeps,
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
