import { checkpointText } from '../../src/features/proofs/domain/checkpoint.js';
import { fromHex, rootOfEdge, toHex } from '../../src/features/proofs/domain/edge.js';
import type { LogState } from '../../src/features/proofs/domain/state.js';
import { noteKeyId, writeNote } from '../../src/features/proofs/domain/note.js';
import { consistencySpans, isConsistent } from '../../src/features/proofs/domain/proofs.js';
import { logStream, parseLogStream } from '../../src/kernel/base/stream-names.js';
import type { CheckpointReceiver } from '../../src/ports/checkpoint-receiver.js';
import type { Clock } from '../../src/ports/clock.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { Ports } from '../../src/ports/ports.js';
import type { CheckpointFacts, CheckpointInput, RoundArgs } from '../../workflows/checkpoint.js';
import type { SigningKeys } from '../../src/ports/signing-keys.js';
import type { ProcessEffects } from '../../src/kernel/processes/process-effects.js';
import type { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { gatherHeads } from '../../src/features/proofs/gather-heads.js';
import { openLogTree } from '../../src/features/proofs/log-tree.js';
import { type CheckpointAt, checkpointBefore, newestCheckpoint } from '../../src/features/proofs/log.js';
import { logFold } from '../../src/features/proofs/log-fold.js';

/** The timeout of one attempt at a batch, a signature or sending notes, in milliseconds. */
const EFFECT_MS = 120_000;

type SignDeps = {
  readonly writers: StreamWriters;
  readonly events: EventStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly signingKeys: SigningKeys;
  /** The URL at which clients reach this server: a log is named after it, and keeps its first name. */
  readonly issuer: string;
};

/** The name of a tenant's log, which is also the name of its key in notes; these may not contain a plus sign. */
const originOf = (issuer: string, tenant: string): string =>
  `${issuer.replace(/^https?:\/\//, '').replaceAll('+', '%2B')}/audit/${encodeURIComponent(tenant)}`;

/** Verifies, from the leaves in the log, that it extends its last checkpoint. @throws Error if it does not */
const requireExtension = async (events: EventStore, stream: string, log: LogState, root: Uint8Array): Promise<void> => {
  if (log.last === null) return;
  const { size: earlier, root: earlierRoot } = log.last;
  const path =
    earlier === log.size ? [] : await openLogTree(events, stream, log).roots(consistencySpans(earlier, log.size));
  if (!isConsistent({ earlier, earlierRoot: fromHex(earlierRoot), size: log.size, root, path }))
    throw new Error(`the log ${stream} does not extend its checkpoint of size ${String(earlier)}: it was changed`);
};

/**
 * Signs the log in its present state, with the current key. Nothing is signed that does not extend what was signed before.
 * @throws Error if the log was changed: it is retried until an operator has repaired it
 */
const signCheckpoint = async (
  { writers, events, clock, signingKeys, issuer }: SignDeps,
  tenant: string,
  handsOn: boolean,
): Promise<Extract<CheckpointInput, { type: 'signed' }>> => {
  const stream = logStream(tenant);
  const { state: log } = await writers.current(stream, logFold);
  const { size } = log;
  const root = rootOfEdge(log.edge);
  await requireExtension(events, stream, log, root);
  const origin = log.last?.origin ?? originOf(issuer, tenant);
  const at = clock.now().toISOString();
  const { kid } = signingKeys.current;
  const text = checkpointText({ origin, size, root, at });
  const { signature, x } = await signingKeys.signText(kid, text);
  const note = writeNote(text, { name: origin, keyId: noteKeyId(origin, x), signature });
  return { type: 'signed', origin, size, root: toHex(root), at, kid, note, handsOn };
};

export type CheckpointEffectsDeps = Omit<SignDeps, 'events' | 'clock'> & {
  readonly ports: Pick<Ports, 'events' | 'clock'>;
  /** The external receiver of checkpoints; null if there is none. */
  readonly checkpointReceiver: CheckpointReceiver | null;
};

/** How many checkpoints are searched for unsent ones, and how many are sent in one attempt, the oldest first. */
const LOOKED_BACK = 1_000;
const AT_ONCE = 100;
/** The time after which no further checkpoint is sent, in milliseconds: a slow receiver must not delay the log, and what it accepted is recorded. */
const HANDING_ON_MS = 15_000;

/** The checkpoints above a size, oldest first. */
const above = async (events: EventStore, tenant: string, size: number): Promise<readonly CheckpointAt[]> => {
  const found: CheckpointAt[] = [];
  let next = await newestCheckpoint(events, tenant);
  while (next !== null && next.size > size && found.length < LOOKED_BACK) {
    found.push(next);
    next = await checkpointBefore(events, tenant, next);
  }
  return found.reverse();
};

/**
 * Sends the checkpoints above a size to the receiver. It fails only with the event store or the signal: an unavailable receiver must not delay the
 * log.
 */
export const handOnCheckpoints = async (
  {
    events,
    receiver,
    clock,
  }: {
    readonly events: EventStore;
    readonly receiver: CheckpointReceiver | null;
    readonly clock: Pick<Clock, 'monotonicMs'>;
  },
  tenant: string,
  handedOn: number,
  signal: AbortSignal,
): Promise<Extract<CheckpointInput, { type: 'handedOn' }>> => {
  let upTo = handedOn;
  const endMs = clock.monotonicMs() + HANDING_ON_MS;
  for (const { note, size } of (await above(events, tenant, handedOn)).slice(0, AT_ONCE)) {
    if (clock.monotonicMs() >= endMs) return { type: 'handedOn', upTo, failed: 'the receiver is too slow' };
    try {
      if (receiver === null) throw new Error('a receiver for checkpoints is no longer configured');
      await receiver.handOn(note, signal);
    } catch (error) {
      signal.throwIfAborted();
      return { type: 'handedOn', upTo, failed: error instanceof Error ? error.message : String(error) };
    }
    upTo = size;
  }
  return { type: 'handedOn', upTo, failed: null };
};

/** What a round of the log needs: its effects read the order of all events, sign, and send checkpoints. */
export const checkpointEffects = (open: CheckpointEffectsDeps): ProcessEffects => ({
  fold: logFold,
  prepare: () => Promise.resolve((log) => ({ log }) as CheckpointFacts),
  effectMs: EFFECT_MS,
  effect: async ({ stream, id }, { name, args }, signal): Promise<CheckpointInput> => {
    const tenant = parseLogStream(stream);
    if (tenant === null) throw new Error(`the round ${id} is not in the stream of a log`);
    const { writers, checkpointReceiver: receiver } = open;
    const { events, clock } = open.ports;
    switch (name) {
      case 'gathering':
        return gatherHeads({ events, clock }, tenant, args as RoundArgs, signal);
      case 'signing':
        return signCheckpoint({ ...open, events, clock }, tenant, receiver !== null);
      case 'handingOn': {
        const { state } = await writers.current(stream, logFold);
        return handOnCheckpoints({ events, receiver, clock }, tenant, state.handedOn, signal);
      }
      default:
        throw new Error(`a round of the log has no effect ${name}`);
    }
  },
});
