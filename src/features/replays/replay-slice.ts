import { addFindings, type MindAside, noFindings, type ReplayFindings } from './domain/findings.js';
import { recordedFindings } from './domain/recorded-findings.js';
import type { ReplayCursor } from './domain/events.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { ReplayInput, ReplaySetting } from '../../../workflows/replay.js';
import type { ReplayTask } from './count-mind.js';
import type { MindsAhead } from './minds-ahead.js';
import { type MindPart, type ReplayHand, type SliceTask, ThreadEnded } from './replay-part.js';

/** How much is done between two of a replay's own events, in milliseconds. */
export const REPLAY_SLICE_MS = 3_000;

/** The workers that replay decisions: each processes one part at a time. */
export type ReplayHands = { begin(slice: SliceTask): readonly ReplayHand[] };

export type SliceDeps = {
  readonly hands: ReplayHands;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The minds after this one, in the order of their ids. */
  readonly mindsAfter: (after: string | null) => MindsAhead;
  readonly sliceMs: number;
};

/** How often a mind is tried whose replay fails. */
export const MIND_TRIES = 3;

/** Why the replay of a mind would fail again; null for a failure that passes. */
const reasonOf = (error: unknown): string | null => {
  if (error instanceof ThreadEnded) return 'Its replay ends the thread that it runs in.';
  if (!(error instanceof Rejection))
    return 'One of its events cannot be replayed: the event was changed, or the server has a defect.';
  return error.retryAfter === undefined || error.code === 'EVENT_VERSION_UNKNOWN' ? error.message : null;
};

type Advanced = Extract<ReplayInput, { type: 'advanced' }>;
/** A part of a replay, or the minds that failed before it was done: their threads have lost its findings. */
type Attempt = { readonly done: Advanced } | { readonly failed: readonly MindAside[] };

/**
 * Does the next slice of a replay: distributes minds in the order of their ids until its time is up, so that the progress is always described by the
 * last mind that was begun and the few that are not finished.
 * @param aside minds to leave out: the slice deals no mind beyond them, so that this is recorded before another one fails
 */
const attemptSlice = async (
  { hands, clock, mindsAfter, sliceMs }: SliceDeps,
  { cursor, found: known }: Pick<ReplaySetting, 'cursor' | 'found'>,
  task: ReplayTask,
  aside: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<Attempt> => {
  const untilMs = clock.monotonicMs() + sliceMs;
  const waiting: MindPart[] = cursor.begun.filter(({ npcId }) => !aside.has(npcId));
  const toPass = new Set([...aside.keys()].filter((npcId) => cursor.begun.every((mind) => mind.npcId !== npcId)));
  const begun: MindPart[] = [];
  const failed: MindAside[] = [];
  const ahead = mindsAfter(cursor.after);
  let { after } = cursor;
  let events = 0;
  let isDealt = false as boolean;

  const nextPart = async (): Promise<MindPart | null> => {
    const begunBefore = waiting.shift();
    if (begunBefore !== undefined) return begunBefore;
    while (aside.size === 0 || toPass.size > 0) {
      const { done, value: npcId } = await ahead.next();
      if (done === true) {
        isDealt = true;
        return null;
      }
      after = npcId;
      if (!toPass.delete(npcId)) return { npcId, next: 0 };
    }
    return null;
  };
  /** @throws what is not the fault of a mind */
  const takePart = async (hand: ReplayHand, part: MindPart): Promise<void> => {
    try {
      const done = await hand.part(part, signal);
      events += done.events;
      if (done.next !== null) begun.push({ npcId: part.npcId, next: done.next });
    } catch (error) {
      signal.throwIfAborted();
      const reason = reasonOf(error);
      if (reason === null) throw error;
      failed.push({ npcId: part.npcId, reason });
    }
  };
  const takeParts = async (hand: ReplayHand): Promise<void> => {
    // At least one part, however short the time, so that each slice makes progress.
    do {
      const part = await nextPart();
      if (part === null) return;
      await takePart(hand, part);
    } while (failed.length === 0 && clock.monotonicMs() < untilMs);
  };

  const all = hands.begin({ task, known, ms: sliceMs });
  let found: readonly ReplayFindings[];
  try {
    // All of them, so that nothing of a failed attempt runs beside the next one.
    const ends = await Promise.allSettled(all.map(takeParts));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    if (failed.length > 0) return { failed };
    found = await Promise.all(all.map((hand) => hand.findings()));
  } finally {
    for (const hand of all) hand.drop();
    await ahead.return(undefined);
  }
  const next: ReplayCursor = { after, begun: [...waiting, ...begun] };
  const recorded = recordedFindings(known, found.reduce(addFindings, noFindings));
  const done = { type: 'advanced', cursor: next, events, found: recorded } as const;
  return { done: { ...done, over: isDealt && next.begun.length === 0 } };
};

/** The findings with the minds that were set aside. */
const withAside = (done: Advanced, aside: ReadonlyMap<string, string>): Advanced => {
  if (aside.size === 0) return done;
  const named = Array.from(aside, ([npcId, reason]) => ({ npcId, reason }));
  return { ...done, found: { ...done.found, setAside: { minds: named.length, named } } };
};

/**
 * Does the next slice of a replay. A mind whose replay fails is tried again, with the rest of the slice, and set aside after MIND_TRIES: it does not
 * hold up the others. Propagates what passes: errors from the hands and the read models, and the reason of the signal.
 */
export const replaySlice = async (
  deps: SliceDeps,
  setting: Pick<ReplaySetting, 'cursor' | 'found'>,
  task: ReplayTask,
  signal: AbortSignal,
): Promise<Advanced> => {
  const tries = new Map<string, number>();
  const aside = new Map<string, string>();
  for (;;) {
    const attempt = await attemptSlice(deps, setting, task, aside, signal);
    if ('done' in attempt) return withAside(attempt.done, aside);
    for (const { npcId, reason } of attempt.failed) {
      const tried = (tries.get(npcId) ?? 0) + 1;
      tries.set(npcId, tried);
      if (tried >= MIND_TRIES) aside.set(npcId, reason);
    }
  }
};
