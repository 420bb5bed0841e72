import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { comparisonSlices, same } from '../turns/domain/same.js';
import { makeTurnId } from '../turns/domain/turn-id.js';
import { defined } from '../../kernel/base/defined.js';
import type { JsonObject } from '../../kernel/base/json.js';
import type { Speaker } from '../npcs/domain/events.js';
import { parseProcessId } from '../../kernel/crypto/process-id.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { shortDigest } from '../../kernel/crypto/sha256.js';
import type { ProcessRef } from '../../ports/process-runtime.js';
import { agentTurn, type AgentTurnInput } from '../../../workflows/agent-turn.js';
import type { OpenedTurn, TurnState } from '../../../workflows/turn/turn-state.js';
import type { Clock } from '../../ports/clock.js';
import type { CortexEngine } from '../../ports/cortex.js';
import { isOver } from '../turns/find-turn.js';
import { mindFold } from '../npcs/mind-fold.js';
import type { CommandAttempt } from '../../kernel/streams/earlier-process.js';
import { anotherAttempt } from '../turns/another-attempt.js';
import type { StepDeps } from '../turns/step-turn.js';
import { conversationSoFar } from '../turns/conversation.js';
import { takeRecordable } from '../../kernel/streams/take-recordable.js';
import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import { TURNS_KEPT_PER_MIND } from '../turns/turn-index.js';
import { playerKey, saidSlices, type TurnKey } from '../turns/turn-key.js';
import type { ExpectedRetries } from './expected-retries.js';
import { promptBudgetOf } from './prompt-budget.js';

export type TakeDeps = StepDeps & {
  readonly retries: ExpectedRetries;
  /** The engine of a tenant. @throws Rejection CORTEX_UNAVAILABLE if this server does not have it */
  readonly engineOf: (tenant: string) => CortexEngine;
  /** The current openings, by `AgentInput.same`: any number of equal requests wait for one of them. */
  readonly openings: Map<string, SharedOpening>;
};

/** An input to an agent. */
export type AgentInput = CommandAttempt & {
  readonly input: string;
  readonly context: JsonObject;
  readonly player?: Speaker;
  /** The context of a request with a player token: only recorded. */
  readonly playerContext?: JsonObject;
  /** Overlays the mind's recorded state for this turn. */
  readonly npcState: JsonObject;
  /** The comparison form of the input and its context, by which the turn index finds turns. */
  readonly said: string;
  /** Equal requests have the same value: the mind, the input, the context, the state and the player, as JSON values. */
  readonly same: string;
};

/**
 * An input to an agent, with its comparison forms.
 * @throws Rejection EVENTS_TOO_LARGE
 */
export const agentInput = async (given: Omit<AgentInput, 'said' | 'same'>): Promise<AgentInput> => {
  const { stream, input, context, npcState, player, playerContext = {} } = given;
  await takeRecordable([input, context, npcState, playerContext]);
  const said = await inSlices(saidSlices(input, context));
  const state = await inSlices(comparisonSlices(npcState));
  const { player: by } = playerKey(player);
  const content = by === undefined ? `${said} ${state}` : `${said} ${state} ${by}`;
  return { ...given, said, same: `agent ${stream} ${shortDigest(content)}` };
};

/** Identifies a request and its retry: the idempotency key if it has one, otherwise its content. */
export const retryKey = (asked: AgentInput): string =>
  asked.keyed || asked.resumed ? `command ${asked.by.commandId}` : asked.same;

export const agentTurnRef = (stream: string, id: string): ProcessRef => ({ process: agentTurn.name, id, stream });

/** The state of an agent's turn. @throws what the event store throws */
export const stateOf = async (
  { repository }: Pick<TakeDeps, 'repository'>,
  stream: string,
  turnId: string,
): Promise<TurnState> => (await repository.load(agentTurn, agentTurnRef(stream, turnId))).state as TurnState;

/**
 * Opens a turn on this server, or joins one with the same input: one that is open, or one that has ended since a request for it was asked to retry.
 * After a failure here a retry is expected; after this has returned, a caller that does not answer must expect it.
 * @param untilMs when the request must be answered, on the monotonic clock
 * @returns the turn's id
 * @throws Rejection ENGINE_UNAVAILABLE when the time is up, and as ProcessRuntime.ask
 */
export const takeInput = async (deps: TakeDeps, asked: AgentInput, untilMs: number): Promise<string> => {
  const { clock, retries } = deps;
  const late = (): Rejection => new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 1 });
  const ms = Math.max(untilMs - clock.monotonicMs(), 0);
  const key = retryKey(asked);
  const request: Request = { key, promised: retries.take(key), opening: null };
  try {
    return await withTimeLimit(clock, { ms, late }, async (signal) => {
      const { earlier, searchedTo } = await anotherAttempt(deps, agentTurn, asked);
      if (earlier !== null && earlier.name !== 'expired') return earlier.turnId;
      const { promised } = request;
      // A turn that is open now may have ended by the time it is searched for, and ended turns are not joined.
      if (promised !== null && isPromised(await stateOf(deps, asked.stream, promised), clock)) return promised;
      signal.throwIfAborted();
      return waitFor(openingOf(deps, asked, searchedTo), request);
    });
  } catch (error) {
    void expectRetry(retries, request);
    throw error;
  }
};

const isOpen = (state: TurnState): state is OpenedTurn =>
  state.name === 'awaitingMemories' || state.name === 'awaitingInference';

/** Whether a turn has an outcome, or can still have one. */
const isPromised = (state: TurnState, clock: Pick<Clock, 'now'>): boolean =>
  state.name === 'ended' || state.name === 'failed' || (isOpen(state) && !isOver(state, clock.now().getTime()));

/** A request, the turn whose outcome it was promised when it arrived, and the opening that it waits for. */
type Request = { readonly key: string; promised: string | null; opening: SharedOpening | null };

/** A running opening. It continues when all waiting requests have left, and new requests meanwhile wait for it. */
type SharedOpening = {
  readonly turnId: Promise<string>;
  /** The final id, also of a turn that may be open although its opening failed; null if there is none. Never rejects. */
  readonly known: Promise<string | null>;
  /** Requests that could not wait for its end, and whose retry has not arrived. */
  readonly left: Set<Request>;
};

/** Waits for an opening. A retry replaces a request that has left, so that only one of them is promised the turn. */
const waitFor = (opening: SharedOpening, request: Request): Promise<string> => {
  request.opening = opening;
  const first = [...opening.left].find(({ key }) => key === request.key);
  if (first !== undefined) {
    opening.left.delete(first);
    request.promised ??= first.promised;
  }
  return opening.turnId;
};

/** Whatever failed, the turn of the opening may be open in the end: the retry gets that turn, otherwise the one promised before. */
const expectRetry = async (retries: ExpectedRetries, request: Request): Promise<void> => {
  const { key, promised, opening } = request;
  opening?.left.add(request);
  const turnId = (await opening?.known) ?? promised;
  const hasCome = opening?.left.delete(request) === false;
  if (!hasCome && turnId !== null) retries.expect(key, turnId);
};

/** The running opening for this input, or a new one. */
const openingOf = (deps: TakeDeps, asked: AgentInput, searchedTo: number | undefined): SharedOpening => {
  const underWay = deps.openings.get(asked.same);
  if (underWay !== undefined) return underWay;
  let planned: string | null = null;
  const turnId = joinOrOpen(deps, asked, searchedTo, (id) => (planned = id)).finally(() => {
    // Requests that arrive after its end must search again.
    deps.openings.delete(asked.same);
  });
  const opening = { turnId, known: turnId.catch(() => planned), left: new Set<Request>() };
  deps.openings.set(asked.same, opening);
  return opening;
};

/**
 * Joins the newest open turn with the same input, or opens one. Two processes may both find none. Then both open one with the same command id, the
 * engine refuses the second with BUSY, and that one finds the turn of the first.
 * @param plan receives the id of the turn before it is opened
 */
const joinOrOpen = async (
  deps: TakeDeps,
  asked: AgentInput,
  searchedTo: number | undefined,
  plan: (turnId: string) => void,
): Promise<string> => {
  const { writers, index, runtime, clock, turnDeadlineMs } = deps;
  const { stream, input: observation, context, npcState, player, playerContext, said } = asked;
  const { player: by } = playerKey(player);
  const alikeIn = (recent: readonly TurnKey[]): readonly TurnKey[] =>
    recent.filter((turn) => turn.agent && turn.said === said && turn.player === by);
  // Taken before the search, so the new turn's first read includes everything that another process records from now on.
  const revision = searchedTo ?? (await writers.current(stream, mindFold)).revision;
  const recent = await index.recent(stream);
  const alike = alikeIn(recent);
  const joined = await openTurn(deps, asked, alike);
  if (joined !== null) return joined;
  const commandId = commandOf(asked, alike, revision);
  const nowMs = clock.now().getTime();
  const turnId = makeTurnId('process', revision, nowMs, commandId);
  const deadlineAt = new Date(nowMs + turnDeadlineMs).toISOString();
  const conversation = await conversationSoFar(deps, stream, recent, { player, nowMs });
  const promptAt = new Date(nowMs).toISOString();
  const promptBudget = promptBudgetOf(deps.engineOf(asked.by.tenant)) ?? undefined;
  const perceived = { observation, context, npcState, ...defined({ player, playerContext }), conversation };
  const opened = { turnId, ...perceived, promptAt, ...defined({ promptBudget }), deadlineAt };
  const opening: AgentTurnInput = { type: 'open', ...opened };
  plan(turnId);
  try {
    await runtime.ask(agentTurnRef(stream, turnId), [opening], { ...asked.by, commandId });
    return turnId;
  } catch (failure) {
    if (!(failure instanceof Rejection) || failure.code !== 'BUSY') throw failure;
    // It may also be refused because too many wait. Only a turn that did not exist before belongs to another process with this command: command ids
    // recur.
    const before = new Set(alike.map((turn) => turn.turnId));
    const rival = alikeIn(await index.recent(stream)).find(
      (turn) => turn.commandId === commandId && !before.has(turn.turnId),
    );
    if (rival === undefined) throw failure;
    return rival.turnId;
  }
};

/** The newest open turn with the same state, among turns with the same words. */
const openTurn = async (
  deps: TakeDeps,
  { stream, npcState }: AgentInput,
  alike: readonly TurnKey[],
): Promise<string | null> => {
  const nowMs = deps.clock.now().getTime();
  for (const { turnId } of alike.filter((turn) => turn.awaits !== null && turn.deadlineMs > nowMs)) {
    const state = await stateOf(deps, stream, turnId);
    if (isOpen(state) && same(state.npcState, npcState)) return turnId;
  }
  return null;
};

/**
 * How far back a turn counts for a command's id, in events: far fewer than the TURN_SEARCH_EVENTS that a process reads after its start, and no more
 * than TURNS_KEPT_PER_MIND ended turns take, at two or more events each. So every process knows the turns that count.
 */
const COUNTED_EVENTS = 2 * TURNS_KEPT_PER_MIND;

/**
 * The command id of an opening without a key: from its input, and the newest recent turn that began with the same words. Every process computes the
 * same.
 */
const commandOf = (asked: AgentInput, alike: readonly TurnKey[], revision: number): string => {
  if (asked.keyed || asked.resumed) return asked.by.commandId;
  const from = revision - COUNTED_EVENTS;
  const newest = alike.find(({ turnId }) => (parseProcessId(turnId)?.revision ?? -1) >= from);
  return `agent_${shortDigest(`${asked.same} ${newest?.turnId ?? ''}`)}`;
};
