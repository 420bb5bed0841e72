import { requireRecordable } from '../../domain/npc/recorded-bytes.js';
import { comparisonText } from '../../domain/npc/same.js';
import { makeTurnId } from '../../domain/npc/turn-id.js';
import type { JsonObject } from '../../domain/shared/json.js';
import { parseProcessId } from '../../domain/shared/process-id.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { shortDigest } from '../../domain/shared/sha256.js';
import type { ProcessRef } from '../../ports/process-engine.js';
import { agentTurn, type AgentTurnInput } from '../../../workflows/agent-turn.js';
import type { TurnState } from '../../../workflows/turn-state.js';
import { mindFold } from '../minds/mind.js';
import type { CommandAttempt } from '../streams/earlier-process.js';
import { anotherAttempt } from '../turns/another-attempt.js';
import type { StepDeps } from '../turns/step-turn.js';
import { withTimeLimit } from '../../concurrency/time-limit.js';
import { TURNS_KEPT_PER_MIND } from '../turns/turn-index.js';
import { saidKey, type TurnKey } from '../turns/turn-key.js';
import type { Unanswered } from './unanswered.js';

/** A request, what it was owed when it came, and the opening that it waits for. */
type Asker = { readonly name: string; owed: string | null; opening: SharedOpening | null };

/** An opening under way. */
type SharedOpening = {
  readonly turnId: Promise<string>;
  /** The id in the end, also of a turn that may be open although its opening failed; null when there is none. Never rejects. */
  readonly known: Promise<string | null>;
  /** Who could not wait for its end, and has not come back. */
  readonly left: Set<Asker>;
};

export type TakeDeps = StepDeps & {
  readonly unanswered: Unanswered;
  /** The openings under way, by what makes requests the same: equal requests wait for one of them, however many they are. */
  readonly openings: Map<string, SharedOpening>;
};

/** What is said to an agent (contract 7.1). */
export type AgentInput = CommandAttempt & {
  readonly input: string;
  readonly context: JsonObject;
  /** Overlays the mind's recorded state for this turn. */
  readonly npcState: JsonObject;
};

/** What makes two requests the same: the mind, the input, the context and the state, as JSON values. */
export const sameInput = ({ stream, input, context, npcState }: AgentInput): string =>
  `agent ${stream} ${shortDigest(`${saidKey(input, context)} ${comparisonText(npcState)}`)}`;

/** By what a request finds what it is owed: its key where it has one, else what it says. */
export const debtName = (asked: AgentInput): string =>
  asked.keyed || asked.resumed ? `command ${asked.by.commandId}` : sameInput(asked);

export const agentTurnRef = (stream: string, id: string): ProcessRef => ({ process: agentTurn.name, id, stream });

/**
 * Opens a turn on this server, or joins one with the same input: one that is open, or one that has ended since a request for it was told to come
 * again. What the request was owed is taken here. Who does not answer it afterwards notes it again; a failure here notes it by itself.
 * @param untilMs when the request must be answered, on the monotonic clock
 * @returns the turn's id
 * @throws Rejection EVENTS_TOO_LARGE, ENGINE_UNAVAILABLE when the time is up, and as ProcessEngine.ask
 */
export const takeInput = async (deps: TakeDeps, asked: AgentInput, untilMs: number): Promise<string> => {
  const { clock } = deps;
  requireRecordable([asked.input, asked.context, asked.npcState]);
  const late = (): Rejection => new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 1 });
  const ms = Math.max(untilMs - clock.monotonicMs(), 0);
  const name = debtName(asked);
  const asker: Asker = { name, owed: deps.unanswered.take(name), opening: null };
  try {
    return await withTimeLimit(clock, { ms, late }, async (signal) => {
      const { earlier, searchedTo: since } = await anotherAttempt(deps, agentTurn, asked);
      if (earlier !== null && earlier.name !== 'expired') return earlier.turnId;
      const { owed } = asker;
      if (owed !== null && (await stateOf(deps, asked.stream, owed)).name === 'ended') return owed;
      signal.throwIfAborted();
      const opening = openingOf(deps, asked, since);
      join(opening, asker);
      return await opening.turnId;
    });
  } catch (error) {
    leave(deps, asker);
    throw error;
  }
};

/** Waits for an opening. A repeat takes the place of one that has left, so that only one of them is owed the turn. */
const join = (opening: SharedOpening, asker: Asker): void => {
  asker.opening = opening;
  for (const earlier of opening.left) {
    if (earlier.name !== asker.name) continue;
    opening.left.delete(earlier);
    asker.owed ??= earlier.owed;
    return;
  }
};

/** Notes what a request is owed that was not answered. Whatever has failed, the turn of its opening may be open in the end. */
const leave = ({ unanswered }: TakeDeps, asker: Asker): void => {
  const { name, owed, opening } = asker;
  opening?.left.add(asker);
  const known = opening?.known ?? Promise.resolve(null);
  void known.then((turnId) => {
    const due = turnId ?? owed;
    // Its repeat may have come meanwhile.
    const hasLeft = opening === null || opening.left.delete(asker);
    if (hasLeft && due !== null) unanswered.noted(name, due);
  });
};

/** The opening under way for this input, or a new one. It goes on when everybody has left, and who comes meanwhile waits for it. */
const openingOf = (deps: TakeDeps, asked: AgentInput, since: number | undefined): SharedOpening => {
  const same = sameInput(asked);
  const underWay = deps.openings.get(same);
  if (underWay !== undefined) return underWay;
  let planned: string | null = null;
  const turnId = openOrJoin(deps, asked, since, (id) => (planned = id)).finally(() => {
    // Who comes after its end must see what is there then.
    deps.openings.delete(same);
  });
  const opening = { turnId, known: turnId.catch(() => planned), left: new Set<Asker>() };
  deps.openings.set(same, opening);
  return opening;
};

/** Where an agent's turn stands. @throws what the event store throws */
export const stateOf = async (
  { journal }: Pick<TakeDeps, 'journal'>,
  stream: string,
  turnId: string,
): Promise<TurnState> => (await journal.load(agentTurn, agentTurnRef(stream, turnId))).state as TurnState;

/**
 * How far back a turn counts for a command's name, in events: much less than the TURN_SEARCH_EVENTS that a process reads when it has just started, and
 * no more than hold TURNS_KEPT_PER_MIND ended turns, of two events at least. So every process knows the turns that count.
 */
const COUNTED_EVENTS = 2 * TURNS_KEPT_PER_MIND;

/**
 * An opening without a key takes its command's name from the input and the newest turn that began with the same words not long ago. So two server
 * processes that open the same input at once make the same command: the one whose append comes second is refused, and finds the other's turn.
 */
const commandOf = (asked: AgentInput, known: readonly TurnKey[], since: number): string => {
  if (asked.keyed || asked.resumed) return asked.by.commandId;
  const said = saidKey(asked.input, asked.context);
  const from = since - COUNTED_EVENTS;
  const counts = ({ turnId }: TurnKey): boolean => (parseProcessId(turnId)?.revision ?? -1) >= from;
  const newest = known.find((turn) => turn.agent && turn.said === said && counts(turn))?.turnId ?? '';
  return `agent_${shortDigest(`${sameInput(asked)} ${newest}`)}`;
};

const openOrJoin = async (
  deps: TakeDeps,
  asked: AgentInput,
  searched: number | undefined,
  plan: (turnId: string) => void,
): Promise<string> => {
  const { lanes, index } = deps;
  const { stream } = asked;
  // Taken before the search: the new turn's first reading meets what another process records from now on.
  const since = searched ?? (await lanes.current(stream, mindFold)).revision;
  const known = await index.recent(stream);
  const joined = await openTurn(deps, asked, known);
  if (joined !== null) return joined;
  const commandId = commandOf(asked, known, since);
  try {
    return await begin(deps, { ...asked, by: { ...asked.by, commandId } }, since, plan);
  } catch (failure) {
    if (!(failure instanceof Rejection) || failure.code !== 'BUSY') throw failure;
    // It may also be refused because too many wait. Only a turn that was not there before is another's with this command: names come again.
    const before = new Set(known.map(({ turnId }) => turnId));
    const now = await index.recent(stream);
    const rival = now.find((turn) => turn.agent && turn.commandId === commandId && !before.has(turn.turnId));
    if (rival === undefined) throw failure;
    return rival.turnId;
  }
};

/** The newest open agent's turn with the same input, context and state. */
const openTurn = async (
  deps: TakeDeps,
  { stream, input, context, npcState }: AgentInput,
  known: readonly TurnKey[],
): Promise<string | null> => {
  const nowMs = deps.clock.now().getTime();
  const said = saidKey(input, context);
  const same = known.filter(
    (turn) => turn.agent && turn.awaits !== null && turn.deadlineMs > nowMs && turn.said === said,
  );
  for (const { turnId } of same) {
    const state = await stateOf(deps, stream, turnId);
    const isOpen = state.name === 'awaitingMemories' || state.name === 'awaitingInference';
    if (isOpen && comparisonText(state.npcState) === comparisonText(npcState)) return turnId;
  }
  return null;
};

const begin = async (
  deps: TakeDeps,
  asked: AgentInput,
  since: number,
  plan: (turnId: string) => void,
): Promise<string> => {
  const { engine, clock, turnDeadlineMs } = deps;
  const { stream, by, input: observation, context, npcState } = asked;
  const nowMs = clock.now().getTime();
  const turnId = makeTurnId('process', since, nowMs, by.commandId);
  const opening: AgentTurnInput = {
    type: 'open',
    turnId,
    observation,
    context,
    npcState,
    deadlineAt: new Date(nowMs + turnDeadlineMs).toISOString(),
  };
  plan(turnId);
  await engine.ask(agentTurnRef(stream, turnId), [opening], by);
  return turnId;
};
