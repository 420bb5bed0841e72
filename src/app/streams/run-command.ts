import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import { type CommandSearch, commandSearch } from './find-command.js';
import { decideAndAppend, type Recorded } from './decide-and-append.js';
import type { Fold, Place } from './fold.js';
import type { CommandContext } from '../../domain/shared/command-context.js';
import type { EventDraft, Lane } from './lane.js';
import type { Lanes } from './lanes.js';

export type CommandDeps = { readonly lanes: Lanes; readonly events: EventStore; readonly clock: Clock };

/** What a decider emits. Event types are JSON by construction, which the compiler cannot see of types without an index signature. */
export type DecidedEvent = { readonly type: string; readonly data: object };

/** Makes events of a state, or refuses; asked again whenever somebody else was first. */
type Decide<State> = (state: State, revision: number) => readonly DecidedEvent[] | Rejection;

/** On whose behalf, and whether there may be another attempt at the same command. */
export type Command = CommandContext & {
  /** An Idempotency-Key names the command: should this process stand still, another one may carry it out. */
  readonly keyed?: boolean;
  /** An earlier attempt at it died, or failed in a way that says nothing of what it did. */
  readonly resumed?: boolean;
};

/**
 * Runs one command on one stream: load and fold, decide, append at the exact revision, and decide again when somebody else was first.
 * A command that another attempt has carried out is answered with that one's events, and records nothing.
 * @throws Rejection when the decider refuses, CONFLICT after DECIDE_ATTEMPTS, and what the event store raises.
 */
export const runCommand = <State>(
  deps: CommandDeps,
  stream: string,
  fold: Fold<State>,
  { keyed = false, resumed = false, ...context }: Command,
  decide: Decide<State>,
): Promise<Recorded<State>> => {
  // Where this process writes alone, nobody else carries the command out while it lives.
  if (!resumed && !(keyed && deps.lanes.shared)) return carryOut(deps, stream, fold, context, null, decide);
  // Two attempts may meet in one process as well, and the second must see what the first has recorded.
  return deps.lanes.inTurn(`command ${stream} ${context.commandId}`, () => {
    const search = commandSearch(deps.events, stream, context.commandId, resumed);
    return carryOut(deps, stream, fold, context, search, decide);
  });
};

const carryOut = <State>(
  { lanes, clock }: CommandDeps,
  stream: string,
  fold: Fold<State>,
  context: CommandContext,
  search: CommandSearch | null,
  decide: Decide<State>,
): Promise<Recorded<State>> => {
  const earlier = async (): Promise<Recorded<State> | null> => {
    const events = await search?.look();
    if (events === undefined || events === null) return null;
    return { events, ...(await lanes.current(stream, fold)), position: events.at(-1)?.position ?? 0 };
  };
  const outdated = (lane: Lane<State>): boolean => search?.coversLane(lane) === false;
  return decideAndAppend(lanes, { stream, fold, context, timeMs: clock.now().getTime() }, async () => {
    const found = search !== null && outdated(await lanes.open(stream, fold)) ? await earlier() : null;
    if (found !== null) return { found };
    return {
      decide: (lane) =>
        outdated(lane) ? 'outdated' : (decide(lane.state, lane.revision) as readonly EventDraft[] | Rejection),
      conclude: async (lane, seen, refusal) => {
        const standing = await durable(lanes, lane, seen);
        if (standing === null) return null;
        const found = search?.covers(standing.revision) === false ? await earlier() : null;
        if (found !== null) return found;
        const again = standing.revision === seen.revision ? (refusal ?? []) : decide(standing.state, standing.revision);
        if (again instanceof Rejection) throw again;
        return again.length === 0 ? { events: [], ...standing, position: 0 } : null;
      },
      recorded: (recorded) => recorded,
    };
  });
};

/** What an answer that records nothing rests on: a durable state with everything appended before. Null: what was seen was thrown back. */
const durable = async <State>(lanes: Lanes, lane: Lane<State>, seen: Place<State>): Promise<Place<State> | null> => {
  if (lanes.shared) return lane.latest();
  return (await lane.confirmed()) ? seen : null;
};
