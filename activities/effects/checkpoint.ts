import { checkpointText } from '../../src/features/proofs/domain/checkpoint.js';
import { rootOfEdge, toHex } from '../../src/features/proofs/domain/edge.js';
import type { LogState } from '../../src/features/proofs/domain/state.js';
import { noteKeyId, writeNote } from '../../src/features/proofs/domain/note.js';
import { logStream, parseLogStream } from '../../src/kernel/base/stream-names.js';
import { originOfLog, requireMaySign, type MaySignDeps } from '../../src/features/proofs/not-behind.js';
import type { Log } from '../../src/ports/log.js';
import type { CheckpointReceiver } from '../../src/ports/checkpoint-receiver.js';
import type { Clock } from '../../src/ports/clock.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { Ports } from '../../src/ports/ports.js';
import type { CheckpointFacts, CheckpointInput, RoundArgs } from '../../workflows/checkpoint.js';
import type { SigningKeys } from '../../src/ports/signing-keys.js';
import type { ProcessEffects } from '../../src/kernel/processes/process-effects.js';
import type { EventChecks } from '../../src/kernel/streams/event-checks.js';
import type { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { gatherHeads } from '../../src/features/proofs/gather-heads.js';
import { createGoodRoots, type GoodRoots } from '../../src/features/proofs/good-roots.js';
import { extensionProblem } from '../../src/features/proofs/log-extension.js';
import { type CheckpointAt, checkpointAt, checkpointBefore, newestCheckpoint } from '../../src/features/proofs/log.js';
import { logFold } from '../../src/features/proofs/log-fold.js';

/** The timeout of one attempt at a batch, a signature or sending notes, in milliseconds. */
const EFFECT_MS = 120_000;

type SignDeps = MaySignDeps & {
  readonly log: Pick<Log, 'warn'>;
  readonly writers: StreamWriters;
  readonly events: EventStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly signingKeys: SigningKeys;
};

/** The time of a checkpoint: never before that of the last one, which others may have kept, although a clock may be set back. */
const timeOf = (
  { clock, log: logger }: Pick<SignDeps, 'clock' | 'log'>,
  tenant: string,
  { last }: LogState,
): { readonly at: string; readonly clock?: string } => {
  const now = clock.now().toISOString();
  if (last === null || now >= last.at) return { at: now };
  const fields = { tenant, clock: now, taken: last.at };
  logger.warn(fields, 'The clock is behind the last checkpoint; the time of that checkpoint is taken');
  return { at: last.at, clock: now };
};

/**
 * The keys that sign a checkpoint of a time. After a rotation the old key signs once more, before the new one, so that whoever knows only the old
 * one can follow.
 */
const signersFor = async (
  { events, signingKeys }: Pick<SignDeps, 'events' | 'signingKeys'>,
  tenant: string,
  { last }: LogState,
  { kid, at }: { readonly kid: string; readonly at: string },
): Promise<readonly string[]> => {
  const before = last === null ? kid : (await checkpointAt(events, tenant, last.revision)).kid;
  return before === kid || signingKeys.isVoid(before, new Date(at)) ? [kid] : [before, kid];
};

/**
 * Signs the log in its present state. Nothing is signed that does not extend what was signed before.
 * @throws as `requireMaySign`; Error if the log was changed: it is retried until an operator has repaired it
 */
const signCheckpoint = async (
  deps: SignDeps,
  tenant: string,
  signal: AbortSignal,
): Promise<Extract<CheckpointInput, { type: 'signed' }>> => {
  const stream = logStream(tenant);
  const { writers, events, signingKeys } = deps;
  await requireMaySign(deps, tenant, signal);
  const { state: log } = await writers.current(stream, logFold);
  const { size } = log;
  const root = rootOfEdge(log.edge);
  const problem = await extensionProblem(events, stream, log);
  if (problem !== null) throw new Error(problem);
  const origin = originOfLog(log, deps.issuer, tenant);
  const { at, ...clock } = timeOf(deps, tenant, log);
  const { kid } = signingKeys.current;
  const text = checkpointText({ origin, size, root, at });
  const kids = await signersFor(deps, tenant, log, { kid, at });
  const signed = await Promise.all(kids.map((one) => signingKeys.signText(one, text)));
  const note = writeNote(
    text,
    ...signed.map(({ signature, x }) => ({ name: origin, keyId: noteKeyId(origin, x), signature })),
  );
  return {
    type: 'signed',
    origin,
    size,
    root: toHex(root),
    at,
    ...clock,
    kid,
    note,
    handsOn: deps.checkpointReceiver !== null,
  };
};

export type CheckpointEffectsDeps = Omit<SignDeps, 'events' | 'clock' | 'checks'> & {
  readonly ports: Pick<Ports, 'events' | 'clock'>;
  readonly checks: EventChecks;
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
    readonly receiver: Pick<CheckpointReceiver, 'handOn'> | null;
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
export const checkpointEffects = (open: CheckpointEffectsDeps): ProcessEffects => {
  let roots: GoodRoots | null = null;
  return {
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
          roots ??= createGoodRoots(events, open.checks);
          return gatherHeads({ events, clock, roots }, tenant, args as RoundArgs, signal);
        case 'signing':
          return signCheckpoint({ ...open, events, clock }, tenant, signal);
        case 'handingOn': {
          const { state } = await writers.current(stream, logFold);
          return handOnCheckpoints({ events, receiver, clock }, tenant, state.handedOn, signal);
        }
        default:
          throw new Error(`a round of the log has no effect ${name}`);
      }
    },
  };
};
