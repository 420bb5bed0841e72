import type { EventDraft } from '../base/event-draft.js';
import { Rejection } from '../base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import { DECIDE_ATTEMPTS, othersKeptWriting } from './attempts.js';
import { type CommandSearch, commandSearch } from './find-command.js';
import type { Fold } from './fold.js';
import type { CommandContext } from '../base/command-context.js';
import type { Recorded } from './stream-writer.js';
import type { StreamWriters } from './stream-writers.js';

export type CommandDeps = { readonly writers: StreamWriters; readonly events: EventStore; readonly clock: Clock };

/** A draft whose data has a specific type. It is JSON by construction, but the compiler cannot verify this for a type without an index signature. */
export type UncheckedDraft = { readonly type: string; readonly data: object };

/** Derives events from a state, or refuses. Called again whenever another writer was first. */
type Decide<State> = (state: State, revision: number) => readonly UncheckedDraft[] | Rejection;

/** On whose behalf a command runs, and whether another attempt at it may exist. */
export type Command = CommandContext & {
  /** An Idempotency-Key names the command. If this process stalls, another one may carry out the command. */
  readonly keyed?: boolean;
  /** An earlier attempt died, or failed with an unknown outcome. */
  readonly resumed?: boolean;
  /** An earlier attempt was completed: it changed nothing except what it recorded. */
  readonly done?: boolean;
};

/**
 * Runs one command on one stream: loads and folds, decides, appends at the exact revision, and decides again if another writer was first. A command
 * that another attempt has carried out is answered with the events of that attempt, and records nothing. A command that completed without events is
 * not decided again, because others may have changed the state since.
 * @throws Rejection when the decider refuses, SOUL_ARRIVING if only another command may write, CONFLICT after DECIDE_ATTEMPTS, and what the event
 *   store throws
 */
export const runCommand = <State>(
  deps: CommandDeps,
  stream: string,
  fold: Fold<State>,
  { keyed = false, resumed = false, done = false, ...context }: Command,
  decide: Decide<State>,
): Promise<Recorded<State>> => {
  // If this process writes alone, no other one can carry out the command while it lives.
  if (!resumed && !(keyed && deps.writers.shared)) return carryOut(deps, stream, fold, context, null, decide);
  // Two attempts may also meet in one process. The second must see what the first has recorded.
  return deps.writers.runExclusive(`command ${stream} ${context.commandId}`, () => {
    const search = commandSearch(deps.events, stream, context.commandId, resumed);
    return carryOut(deps, stream, fold, context, search, done ? () => [] : decide);
  });
};

const carryOut = async <State>(
  { writers, clock }: CommandDeps,
  stream: string,
  fold: Fold<State>,
  context: CommandContext,
  search: CommandSearch | null,
  decide: Decide<State>,
): Promise<Recorded<State>> => {
  const timeMs = clock.now().getTime();
  const earlierAttempt = async (): Promise<Recorded<State> | null> => {
    const events = (await search?.look()) ?? null;
    if (events === null) return null;
    const position = events.at(-1)?.position ?? 0;
    return { events, ...(await writers.current(stream, fold)), position, earlier: true };
  };
  for (let attempt = 0; attempt < DECIDE_ATTEMPTS; attempt += 1) {
    const writer = await writers.open(stream, fold);
    if (search?.coversWriter(writer) === false) {
      const earlier = await earlierAttempt();
      if (earlier !== null) return earlier;
      continue;
    }
    if (writer.isHeldFrom(context)) {
      await writer.requireFree(context);
      continue;
    }
    // Nothing is awaited between the decision and the append.
    const seen = { state: writer.state, revision: writer.revision };
    const decided = decide(seen.state, seen.revision);
    if (!(decided instanceof Rejection) && decided.length > 0) {
      const recorded = await writer.append(decided as readonly EventDraft[], context, timeMs);
      if (recorded !== null) return recorded;
      continue;
    }
    const place = await writer.durable(seen);
    if (place === null) continue;
    const earlier = search?.covers(place.revision) === false ? await earlierAttempt() : null;
    if (earlier !== null) return earlier;
    const again = place.revision === seen.revision ? decided : decide(place.state, place.revision);
    if (again instanceof Rejection) throw again;
    if (again.length === 0) return { events: [], ...place, position: 0 };
  }
  throw othersKeptWriting();
};
