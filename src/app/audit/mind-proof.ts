import { toHex } from '../../domain/audit/edge.js';
import type { Leaf } from '../../domain/audit/leaf.js';
import { inclusionSpans } from '../../domain/audit/proofs.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { logStream, npcStream } from '../../domain/shared/stream-names.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import {
  type CheckpointAt,
  checkpointBeforePosition,
  checkpointOfSize,
  logEventThrough,
  type LogReads,
  newestCheckpoint,
} from './log.js';
import { openLogTree } from './log-tree.js';
import { firstRevision } from './search-stream.js';

/** That a head of a mind is in the log, in the form of contract 10.5. */
export type MindProof = {
  readonly size: number;
  readonly leaf: Leaf;
  readonly index: number;
  readonly path: readonly string[];
  readonly note: string;
};

const eventOf = async (events: LogReads, stream: string, revision: number): Promise<RecordedEvent | undefined> =>
  (await events.read(stream, { direction: 'forwards', from: revision, limit: 1 })).events[0];

/** The checkpoint of this size, or the newest. @throws Rejection CHECKPOINT_NOT_FOUND */
export const requireCheckpoint = async (events: LogReads, tenant: string, size?: number): Promise<CheckpointAt> => {
  const found = await (size === undefined ? newestCheckpoint(events, tenant) : checkpointOfSize(events, tenant, size));
  if (found === null) throw new Rejection('CHECKPOINT_NOT_FOUND', size === undefined ? {} : { details: { size } });
  return found;
};

/**
 * The newest head of a mind in the log up to a revision, in a checkpoint. The head of a round is the mind's last event up to the position at which that
 * round ended, so it is found by halving: the rounds by position, then the mind's stream, then the batches. Null where there is none yet.
 * @param upTo the highest revision of the leaf; the mind must have it
 */
export const proveMind = async (
  events: LogReads,
  { tenant, npcId }: { readonly tenant: string; readonly npcId: string },
  upTo: number,
  checkpoint: CheckpointAt,
): Promise<MindProof | null> => {
  const stream = npcStream(tenant, npcId);
  const later = await eventOf(events, stream, upTo + 1);
  const round = later === undefined ? checkpoint : await checkpointBeforePosition(events, tenant, later.position);
  if (round === null) return null;
  const through = Math.min(round.through, checkpoint.through);
  const beyond = await firstRevision(events, stream, upTo, ({ position }) => position > through);
  const head = beyond === 0 ? undefined : await eventOf(events, stream, beyond - 1);
  if (head === undefined) return null;
  const batch = await logEventThrough(events, tenant, head.position);
  if (batch?.type !== 'LeavesLogged') return null;
  const place = batch.data.leaves.findIndex((leaf) => leaf.stream === stream);
  const leaf = batch.data.leaves[place];
  if (leaf === undefined) return null;
  const index = batch.data.size + place;
  const { size, note } = checkpoint;
  const path = await openLogTree(events, logStream(tenant), checkpoint).roots(inclusionSpans(index, size));
  return { size, leaf, index, path: path.map(toHex), note };
};
