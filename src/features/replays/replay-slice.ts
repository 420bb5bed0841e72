import { addFindings, noFindings, type ReplayFindings } from './domain/findings.js';
import { recordedFindings } from './domain/recorded-findings.js';
import type { ReplayCursor } from './domain/events.js';
import type { Clock } from '../../ports/clock.js';
import type { ReplayInput, ReplaySetting } from '../../../workflows/replay.js';
import type { ReplayTask } from './count-mind.js';
import type { MindsAhead } from './minds-ahead.js';
import type { MindPart, ReplayHand, SliceTask } from './replay-part.js';

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

/**
 * Does the next slice of a replay: distributes minds in the order of their ids until its time is up, so that the progress is always described by the
 * last mind that was begun and the few that are not finished. Propagates errors from the hands and the read models, and the reason of the signal.
 */
export const replaySlice = async (
  { hands, clock, mindsAfter, sliceMs }: SliceDeps,
  { cursor, found: known }: Pick<ReplaySetting, 'cursor' | 'found'>,
  task: ReplayTask,
  signal: AbortSignal,
): Promise<Extract<ReplayInput, { type: 'advanced' }>> => {
  const untilMs = clock.monotonicMs() + sliceMs;
  const waiting: MindPart[] = [...cursor.begun];
  const begun: MindPart[] = [];
  const ahead = mindsAfter(cursor.after);
  let { after } = cursor;
  let events = 0;
  let isDealt = false as boolean;

  const nextPart = async (): Promise<MindPart | null> => {
    const begunBefore = waiting.shift();
    if (begunBefore !== undefined) return begunBefore;
    const { done, value: npcId } = await ahead.next();
    if (done === true) {
      isDealt = true;
      return null;
    }
    after = npcId;
    return { npcId, next: 0 };
  };
  const takeParts = async (hand: ReplayHand): Promise<void> => {
    // At least one part, however short the time, so that each slice makes progress.
    do {
      const part = await nextPart();
      if (part === null) return;
      const done = await hand.part(part, signal);
      events += done.events;
      if (done.next !== null) begun.push({ npcId: part.npcId, next: done.next });
    } while (clock.monotonicMs() < untilMs);
  };

  const all = hands.begin({ task, known, ms: sliceMs });
  let found: readonly ReplayFindings[];
  try {
    await Promise.all(all.map(takeParts));
    found = await Promise.all(all.map((hand) => hand.findings()));
  } finally {
    for (const hand of all) hand.drop();
    await ahead.return(undefined);
  }
  const next: ReplayCursor = { after, begun: [...waiting, ...begun] };
  return {
    type: 'advanced',
    ...{ cursor: next, events, found: recordedFindings(known, found.reduce(addFindings, noFindings)) },
    over: isDealt && next.begun.length === 0,
  };
};
