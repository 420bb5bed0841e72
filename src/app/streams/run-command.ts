import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import { type CommandSearch, commandSearch } from './find-command.js';
import { decideAndAppend, durable, type Recorded } from './decide-and-append.js';
import type { Fold } from './fold.js';
import type { CommandContext } from '../../domain/shared/command-context.js';
import type { EventDraft, Lane } from './lane.js';
import type { Lanes } from './lanes.js';

export type CommandDeps = { readonly lanes: Lanes; readonly events: EventStore; readonly clock: Clock };

/** What a decider emits. Event types are JSON by construction, but the compiler cannot see that of types without an index signature. */
export type DecidedEvent = { readonly type: string; readonly data: object };

/** Makes events of a state, or refuses. Called again whenever another writer was first. */
type Decide<State> = (state: State, revision: number) => readonly DecidedEvent[] | Rejection;

/** On whose behalf a command runs, and whether there may be another attempt at it. */
export type Command = CommandContext & {
  /** An Idempotency-Key names the command. If this process stalls, another one may carry the command out. */
  readonly keyed?: boolean;
  /** An earlier attempt died, or failed in a way that does not tell what it did. */
  readonly resumed?: boolean;
};

/**
 * Runs one command on one stream: loads and folds, decides, appends at the exact revision, and decides again when another writer was first. A command
 * that another attempt has carried out is answered with the events of that attempt, and records nothing.
 * @throws Rejection when the decider refuses, CONFLICT after DECIDE_ATTEMPTS, and what the event store raises.
 */
export const runCommand = <State>(
  deps: CommandDeps,
  stream: string,
  fold: Fold<State>,
  { keyed = false, resumed = false, ...context }: Command,
  decide: Decide<State>,
): Promise<Recorded<State>> => {
  // Where this process writes alone, no other one can carry the command out while it lives.
  if (!resumed && !(keyed && deps.lanes.shared)) return carryOut(deps, stream, fold, context, null, decide);
  // Two attempts may also meet in one process. The second must see what the first has recorded.
  return deps.lanes.runExclusive(`command ${stream} ${context.commandId}`, () => {
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
