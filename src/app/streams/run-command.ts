import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import { type CommandSearch, commandSearch } from './find-command.js';
import type { Fold, Place, PlacedEvent } from './fold.js';
import type { CommandContext, Draft, Lane } from './lane.js';
import type { Lanes } from './lanes.js';

/**
 * How often a command is decided again because somebody else wrote first. Whoever waits for one stream is refused once by each foreign event that comes
 * between, and nobody is to be sent away only because many write: more than can wait at once.
 */
export const COMMAND_ATTEMPTS = 256;

export type CommandDeps = { readonly lanes: Lanes; readonly events: EventStore; readonly clock: Clock };

/** What a decider emits. Event types are JSON by construction, which the compiler cannot see of types without an index signature. */
export type Decided = { readonly type: string; readonly data: object };

/** Makes events of a state, or refuses; asked again whenever somebody else was first. */
type Decide<State> = (state: State, revision: number) => readonly Decided[] | Rejection;

/** On whose behalf, and whether there may be another attempt at the same command. */
export type Command = CommandContext & {
  /** An Idempotency-Key names the command: should this process stand still, another one may carry it out. */
  readonly keyed?: boolean;
  /** An earlier attempt at it died, or failed in a way that says nothing of what it did. */
  readonly resumed?: boolean;
};

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
 * A command that another attempt has carried out is answered with that one's events, and records nothing.
 * @throws Rejection when the decider refuses, CONFLICT after COMMAND_ATTEMPTS, and what the event store raises.
 */
export const runCommand = <State>(
  deps: CommandDeps,
  stream: string,
  fold: Fold<State>,
  { keyed = false, resumed = false, ...context }: Command,
  decide: Decide<State>,
): Promise<CommandOutcome<State>> => {
  // Where this process writes alone, nobody else carries the command out while it lives.
  if (!resumed && !(keyed && deps.lanes.shared)) return carryOut(deps, stream, fold, context, null, decide);
  // Two attempts may meet in one process as well, and the second must see what the first has recorded.
  return deps.lanes.inTurn(`command ${stream} ${context.commandId}`, () => {
    const search = commandSearch(deps.events, stream, context.commandId, resumed);
    return carryOut(deps, stream, fold, context, search, decide);
  });
};

const carryOut = async <State>(
  deps: CommandDeps,
  stream: string,
  fold: Fold<State>,
  context: CommandContext,
  search: CommandSearch | null,
  decide: Decide<State>,
): Promise<CommandOutcome<State>> => {
  const timeMs = deps.clock.now().getTime();
  const carriedOut = async (): Promise<CommandOutcome<State> | null> => {
    const earlier = await search?.look();
    if (earlier === undefined || earlier === null) return null;
    const standing = await deps.lanes.current(stream, fold);
    return { events: earlier, ...standing, position: earlier.at(-1)?.position ?? 0 };
  };
  for (let attempt = 0; attempt < COMMAND_ATTEMPTS; attempt += 1) {
    const lane = await deps.lanes.open(stream, fold);
    while (search?.coversLane(lane) === false) {
      const earlier = await carriedOut();
      if (earlier !== null) return earlier;
    }
    const { state: seen, revision } = lane;
    const decided = decide(seen, revision);
    if (decided instanceof Rejection || decided.length === 0) {
      const standing = await durable(deps.lanes, lane, { state: seen, revision });
      if (standing === null) continue;
      if (search?.covers(standing.revision) === false) {
        const earlier = await carriedOut();
        if (earlier !== null) return earlier;
      }
      const again = standing.revision === revision ? decided : decide(standing.state, standing.revision);
      if (again instanceof Rejection) throw again;
      if (again.length === 0) return { events: [], ...standing, position: 0 };
      continue;
    }
    const placed = lane.place(decided as readonly Draft[], context, timeMs);
    const written = lane.append(placed);
    const { state } = lane;
    const outcome = await written;
    if (outcome.ok)
      return { events: placed, state, revision: placed.at(-1)?.revision ?? -1, position: outcome.position };
  }
  throw new Rejection('CONFLICT', { message: 'Others kept writing to this stream; try again.', retryAfter: 1 });
};

/** What an answer that records nothing rests on: a durable state with everything appended before. Null: what was seen was thrown back. */
const durable = async <State>(lanes: Lanes, lane: Lane<State>, seen: Place<State>): Promise<Place<State> | null> => {
  if (lanes.shared) return lane.latest();
  return (await lane.confirmed()) ? seen : null;
};
