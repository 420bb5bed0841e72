import { Rejection } from '../../domain/shared/rejection.js';
import type { Fold, Place, PlacedEvent } from './fold.js';
import type { CommandContext } from '../../domain/shared/command-context.js';
import type { EventDraft, Lane } from './lane.js';
import type { Lanes } from './lanes.js';

/**
 * How often is decided again because somebody else wrote first. Whoever waits for one stream is refused once by each foreign event that comes
 * between, and nobody is to be sent away only because many write: more than can wait at once.
 */
export const DECIDE_ATTEMPTS = 256;

/** Where is decided, on whose behalf, and the time that leads the ids of the events, in milliseconds since the epoch. */
export type Target<State> = {
  readonly stream: string;
  readonly fold: Fold<State>;
  readonly context: CommandContext;
  readonly timeMs: number;
};

/** The events that were recorded, what they left behind, and the global position of the last one. */
export type Recorded<State> = Place<State> & { readonly events: readonly PlacedEvent[]; readonly position: number };

/** One attempt at a decision, for which everything beside the lane has been read. */
export type Attempt<State, Result> = {
  /**
   * The events to record: none, or a refusal, when nothing is to be. 'outdated' when what was read is older than the lane. Between this and the
   * append nothing is awaited, so that the events follow from exactly what stands before them.
   */
  decide(lane: Lane<State>): readonly EventDraft[] | Rejection | 'outdated';
  /**
   * The result when nothing is to be recorded; null when that was decided from what is no longer so.
   * @throws Rejection the refusal
   */
  conclude(lane: Lane<State>, seen: Place<State>, refusal: Rejection | null): Promise<Result | null>;
  /** The result when the events were recorded. */
  recorded(recorded: Recorded<State>): Result;
};

/**
 * Decides on a stream and appends what was decided at its end, again and again until nobody else was faster.
 * @param prepare makes an attempt (counted from 0), or finds that its result is there already
 * @throws Rejection CONFLICT after DECIDE_ATTEMPTS, and what `prepare`, the attempt and the event store raise
 */
export const decideAndAppend = async <State, Result>(
  lanes: Pick<Lanes, 'open'>,
  { stream, fold, context, timeMs }: Target<State>,
  prepare: (attempt: number) => Promise<Attempt<State, Result> | { readonly found: Result }>,
): Promise<Result> => {
  for (let count = 0; count < DECIDE_ATTEMPTS; count += 1) {
    const attempt = await prepare(count);
    if ('found' in attempt) return attempt.found;
    const lane = await lanes.open(stream, fold);
    const seen = { state: lane.state, revision: lane.revision };
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
