import { Rejection } from '../domain/shared/rejection.js';
import type { Clock } from '../ports/clock.js';
import type { RecordedEvent } from '../ports/event-store.js';
import type { EventStore } from '../ports/event-store.js';
import type { CommandContext, Draft, Fold, PlacedEvent } from './lane.js';
import type { Lanes } from './lanes.js';

/** How often a command is decided again because somebody else wrote first. */
export const COMMAND_ATTEMPTS = 16;
/** How far back an earlier attempt's events are looked for when a command is resumed. */
export const RESUME_SEARCH_EVENTS = 2_000;

export type CommandDeps = { readonly lanes: Lanes; readonly events: EventStore; readonly clock: Clock };

/** What a decider emits. Event types are JSON by construction, which the compiler cannot see of types without an index signature. */
export type Decided = { readonly type: string; readonly data: object };

/** What a command left behind: the events recorded for it (none when it changed nothing) and the state and revision after them. */
export type CommandOutcome<State> = {
  readonly events: readonly PlacedEvent[];
  readonly state: State;
  readonly revision: number;
  /** The global position of the last event; 0 when nothing was recorded. */
  readonly position: number;
};

/**
 * Runs one command on one stream: load and fold, decide, append at the exact revision, and decide again when somebody else was first.
 * A command resumed after a crash finds the events of its first attempt by its command id and records nothing.
 * @throws Rejection when the decider refuses, CONFLICT after COMMAND_ATTEMPTS, and what the event store raises.
 */
export const runCommand = async <State>(
  deps: CommandDeps,
  stream: string,
  fold: Fold<State>,
  context: CommandContext & { readonly resumed?: boolean },
  decide: (state: State, revision: number) => readonly Decided[] | Rejection,
): Promise<CommandOutcome<State>> => {
  const { resumed, ...onBehalf } = context;
  const timeMs = deps.clock.now().getTime();
  for (let attempt = 0; attempt < COMMAND_ATTEMPTS; attempt += 1) {
    const lane = await deps.lanes.current(stream, fold);
    if (resumed === true) {
      await lane.settled();
      const earlier = await findByCommand(deps.events, stream, context.commandId);
      if (earlier.length > 0) {
        return { events: earlier, state: lane.state, revision: lane.revision, position: earlier.at(-1)?.position ?? 0 };
      }
    }
    const { state: seen, revision } = lane;
    const decided = decide(seen, revision);
    if (decided instanceof Rejection || decided.length === 0) {
      // What it was decided on may still be thrown back.
      if (!(await lane.confirmed())) continue;
      if (decided instanceof Rejection) throw decided;
      return { events: [], state: seen, revision, position: 0 };
    }
    const placed = lane.place(decided as readonly Draft[], onBehalf, { scope: context.commandId, timeMs, sequence: 0 });
    const written = lane.append(placed);
    const state = lane.state;
    const outcome = await written;
    if (outcome.ok)
      return { events: placed, state, revision: placed.at(-1)?.revision ?? -1, position: outcome.position };
  }
  throw new Rejection('CONFLICT', { message: 'Others kept writing to this stream; try again.', retryAfter: 1 });
};

const findByCommand = async (
  events: EventStore,
  stream: string,
  commandId: string,
): Promise<readonly RecordedEvent[]> => {
  const { events: tail } = await events.read(stream, { direction: 'backwards', limit: RESUME_SEARCH_EVENTS });
  return tail.filter((event) => event.meta.commandId === commandId).reverse();
};
