import { Rejection } from '../../domain/shared/rejection.js';
import type { Fold, Place, PlacedEvent } from './fold.js';
import type { CommandContext } from '../../domain/shared/command-context.js';
import type { EventDraft, Lane } from './lane.js';
import type { Lanes } from './lanes.js';

/**
 * How often a decision is tried when other writers come first. Each foreign event refuses a waiting caller once. The bound is above the number of
 * callers that can wait at once: a caller must not fail only because many write.
 */
export const DECIDE_ATTEMPTS = 256;

/** Where the decision is made, on whose behalf, and the time that leads the ids of the events, in milliseconds since the epoch. */
export type Target<State> = {
  readonly stream: string;
  readonly fold: Fold<State>;
  readonly context: CommandContext;
  readonly timeMs: number;
};

/** The events that were recorded, the state after them, and the global position of the last one. */
export type Recorded<State> = Place<State> & { readonly events: readonly PlacedEvent[]; readonly position: number };

/** One attempt at a decision. Everything it needs beside the lane has been read. */
export type Attempt<State, Result> = {
  /**
   * The events to record; none, or a refusal, when there is nothing to record. 'outdated' when what was read is older than the lane. Nothing is
   * awaited between this call and the append: the events must follow from exactly what precedes them.
   */
  decide(lane: Lane<State>): readonly EventDraft[] | Rejection | 'outdated';
  /**
   * The result when there is nothing to record; null when that decision rests on a state that no longer holds.
   * @throws Rejection the refusal
   */
  conclude(lane: Lane<State>, seen: Place<State>, refusal: Rejection | null): Promise<Result | null>;
  /** The result once the events are recorded. */
  recorded(recorded: Recorded<State>): Result;
};

const isHeld = <State>(fold: Fold<State>, state: State, { commandId }: CommandContext): boolean => {
  const holder = fold.heldFor?.(state) ?? null;
  return holder !== null && holder !== commandId;
};

/**
 * Decides on a stream and appends the decision at its end. Tries again as long as another writer is faster.
 * @param prepare makes an attempt (counted from 0), or finds that its result is already there
 * @throws Rejection SOUL_ARRIVING where only another command may write, CONFLICT after DECIDE_ATTEMPTS, and what `prepare`, the attempt and the event store raise
 */
export const decideAndAppend = async <State, Result>(
  lanes: Pick<Lanes, 'open' | 'shared'>,
  { stream, fold, context, timeMs }: Target<State>,
  prepare: (attempt: number) => Promise<Attempt<State, Result> | { readonly found: Result }>,
): Promise<Result> => {
  for (let count = 0; count < DECIDE_ATTEMPTS; count += 1) {
    const attempt = await prepare(count);
    if ('found' in attempt) return attempt.found;
    const lane = await lanes.open(stream, fold);
    const seen = { state: lane.state, revision: lane.revision };
    if (isHeld(fold, lane.state, context)) {
      // What this process knows of the stream may be old.
      const { state } = lanes.shared ? await lane.latest() : seen;
      if (isHeld(fold, state, context)) throw new Rejection('SOUL_ARRIVING', { retryAfter: 1 });
      continue;
    }
    const decided = attempt.decide(lane);
    if (decided === 'outdated') continue;
    if (decided instanceof Rejection || decided.length === 0) {
      const concluded = await attempt.conclude(lane, seen, decided instanceof Rejection ? decided : null);
      if (concluded !== null) return concluded;
      continue;
    }
    const events = lane.place(decided, context, timeMs);
    const written = lane.append(events);
    const { state, revision } = lane;
    const outcome = await written;
    if (outcome.ok) return attempt.recorded({ events, state, revision, position: outcome.position });
  }
  throw new Rejection('CONFLICT', { message: 'Others kept writing to this stream; try again.', retryAfter: 1 });
};

/** What an answer rests on when it records nothing: a durable state with everything appended before. Null: what was seen was thrown away. */
export const durable = async <State>(
  lanes: Pick<Lanes, 'shared'>,
  lane: Lane<State>,
  seen: Place<State>,
): Promise<Place<State> | null> => {
  if (lanes.shared) return lane.latest();
  return (await lane.confirmed()) ? seen : null;
};
