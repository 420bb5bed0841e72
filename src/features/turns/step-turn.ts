import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { anotherAttempt } from './another-attempt.js';
import { mindFold } from '../npcs/mind-fold.js';
import { awaits, findTurn, inputOf, isOver, type ResultInput, tapeResults } from './find-turn.js';
import { type ConversationLimits, conversationSoFar } from './conversation.js';
import type { CommandAttempt } from '../../kernel/streams/earlier-process.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import type { ProcessRepository, StreamTail } from '../../kernel/processes/process-repository.js';
import type { TurnIndex } from './turn-index.js';
import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import { takeRecordable } from '../../kernel/streams/take-recordable.js';
import { playerKey, saidSlices } from './turn-key.js';
import { resumable } from './domain/resumable.js';
import { mismatches, type RecordedTape } from './domain/tape-mismatch.js';
import type { TapeResult, Tape } from './domain/tape.js';
import { makeTurnId } from './domain/turn-id.js';
import type { Speaker } from '../npcs/domain/events.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { ProcessRuntime, ProcessRef } from '../../ports/process-runtime.js';
import type { TurnAnswer } from '../../../workflows/turn/turn-answer.js';
import type { OpenedTurn, TurnInput, TurnState } from '../../../workflows/turn/turn-state.js';
import { turn } from '../../../workflows/turn/turn.js';
import { parseNpcStream } from '../../kernel/base/stream-names.js';
import { shortDigest } from '../../kernel/crypto/sha256.js';
import { defined } from '../../kernel/base/defined.js';

export type StepDeps = {
  readonly runtime: ProcessRuntime;
  readonly repository: ProcessRepository;
  readonly index: TurnIndex;
  readonly writers: StreamWriters;
  readonly events: EventStore;
  readonly clock: Clock;
  readonly turnDeadlineMs: number;
  readonly conversation: ConversationLimits;
};

export type TurnStep = CommandAttempt & {
  readonly tape: Tape;
  readonly player?: Speaker;
  /** null: none was sent; 'unknown': its type is not in the protocol. */
  readonly result: TapeResult | 'unknown' | null;
};

/** The answer, and the revision of the mind's stream and the global position (0: nothing was recorded) at that moment. */
export type Stepped = { readonly answer: TurnAnswer; readonly revision: number; readonly position: number };

/**
 * Total time limit of a step, in milliseconds: clients wait for 15 s. Each operation that a step waits for has a shorter limit, but after an outage
 * all of them may be slow.
 */
const STEP_MS = 10_000;

/** A permit for a step of this mind, taken before anything is read for it. @throws as ProcessRuntime.enter */
export const enterStep = (runtime: Pick<ProcessRuntime, 'enter'>, stream: string): (() => void) =>
  runtime.enter({ process: turn.name, stream });

/**
 * One step of the multi-round protocol: finds the turn that the step belongs to, or opens or resumes one, and passes new results to its state
 * machine. It never refuses a client whose view of the turn differs: the response comes from the record.
 * @throws Rejection EVENTS_TOO_LARGE, ENGINE_UNAVAILABLE after STEP_MS, and as ProcessRuntime.ask
 */
export const stepTurn = (deps: StepDeps, { result, ...sent }: TurnStep): Promise<Stepped> => {
  const step: Step = { ...sent, result: result === null || result === 'unknown' ? result : inputOf(result) };
  const late = (): Rejection => new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 1 });
  return withTimeLimit(deps.clock, { ms: STEP_MS, late }, (signal) => locateAndTake({ ...deps, signal }, step));
};

type Step = Omit<TurnStep, 'result'> & { readonly result: ResultInput | 'unknown' | null };

/** The dependencies of a step; once its signal has aborted, no more requests are made. */
type StepWork = StepDeps & { readonly signal: AbortSignal };

const locateAndTake = async (deps: StepWork, step: Step): Promise<Stepped> => {
  const { earlier, searchedTo } = await anotherAttempt(deps, turn, step);
  const target: Target = earlier === null ? await locate(deps, step) : { kind: 'known', known: earlier };
  switch (target.kind) {
    case 'new':
      return openTurn(deps, step, { searchedTo });
    case 'known':
      return takeStep(deps, step, target.known);
    case 'lost':
      return resumeOnce(deps, step, target.turnId);
    case 'unknown':
      return resume(deps, step, { searchedTo });
  }
};

/** The turn of a step: its first step opens one; a lost one has expired or is not a body's turn of this mind; an unknown one was not found. */
type Target =
  | { readonly kind: 'new' | 'unknown' }
  | { readonly kind: 'known'; readonly known: OpenedTurn }
  | { readonly kind: 'lost'; readonly turnId: string };

const locate = async (deps: StepDeps, { stream, tape, player, result }: Step): Promise<Target> => {
  if (tape.turnId !== undefined) return targetOf(deps, stream, tape.turnId);
  if (result === null && tapeResults(tape).length === 0) return { kind: 'new' };
  const { turns, tail } = await deps.index.recentWithTail(stream);
  const said = await inSlices(saidSlices(tape.observation, tape.context));
  const found = findTurn(turns, { said, ...playerKey(player) }, tape, result, deps.clock.now().getTime());
  return typeof found === 'string' ? { kind: found } : targetOf(deps, stream, found.turnId, tail);
};

const targetOf = async (
  { repository, clock }: StepDeps,
  stream: string,
  turnId: string,
  tail?: StreamTail,
): Promise<Exclude<Target, { kind: 'new' | 'unknown' }>> => {
  const state = (await repository.load(turn, refOf(stream, turnId), -1, tail)).state as TurnState;
  // An agent's turn has no body, so a body's step treats it as unknown, like a turn of another mind.
  const isLost =
    state.name === 'new' || state.agent === true || (state.name !== 'ended' && isOver(state, clock.now().getTime()));
  return isLost ? { kind: 'lost', turnId } : { kind: 'known', known: state };
};

const refOf = (stream: string, id: string): ProcessRef => ({ process: turn.name, id, stream });

/** Takes the new parts of a step, and notes where its tape contradicts the record. */
const takeStep = (deps: StepWork, step: Step, known: OpenedTurn): Promise<Stepped> => {
  const next = newInput(known, step);
  const round = (next.type === 'look' ? next.round : undefined) ?? known.rounds.length - 1;
  return record(deps, step, known.turnId, [...noticed(known, step, round), next]);
};

/** Where the tape contradicts the record, or names an actor other than the mind that the turn belongs to. */
const noticed = (known: RecordedTape, step: Step, round: number): readonly TurnInput[] => {
  const members = mismatches(known, withResult(step), parseNpcStream(step.stream)?.npcId ?? null);
  return members.length === 0 ? [] : [{ type: 'mismatch', round, members }];
};

/** `lastResult` overrides the tape. */
const withResult = ({ tape, result }: Step): Tape => {
  if (result === null || result === 'unknown') return tape;
  switch (result.type) {
    case 'actor':
      return { ...tape, actor: result.actor };
    case 'memories':
      return { ...tape, memories: result.memories, vectorQueried: true };
    case 'output':
      return { ...tape, generatedOutput: result.generatedOutput };
  }
};

/** The result that the turn waits for; otherwise a query for an earlier round's response, for a repeat, a misfit or a contradiction. */
const newInput = (known: OpenedTurn, { tape, result }: Step): TurnInput => {
  if (result === 'unknown') return { type: 'look' };
  const results = result === null ? tapeResults(tape) : [result];
  const next = results.find(({ type }) => awaits(known, type));
  if (next !== undefined) return next;
  if (result === null)
    return { type: 'look', round: Math.max(0, ...results.map(({ type }) => known.roundOf[type] ?? 0)) };
  return { type: 'look', ...defined({ round: known.roundOf[result.type] }) };
};

/** What a turn is opened with, in addition to its tape. */
type Begun = {
  /** The revision in the turn's id; the last durable one if undefined. */
  readonly searchedTo: number | undefined;
  readonly memories?: Tape['memories'];
  readonly output?: string;
  readonly resumedFrom?: string;
};

const openTurn = async (
  deps: StepWork,
  step: Step,
  { searchedTo, memories, output, resumedFrom }: Begun,
): Promise<Stepped> => {
  const { tape, player, stream, by } = step;
  const nowMs = deps.clock.now().getTime();
  const revision = searchedTo ?? (await deps.writers.current(stream, mindFold)).revision;
  const turnId = makeTurnId('process', revision, nowMs, by.commandId);
  const { player: key } = playerKey(player);
  // A body that names nobody may speak for anybody. A turn that is resumed has had its prompt.
  const conversation =
    key === undefined || memories !== undefined
      ? undefined
      : await conversationSoFar(deps, stream, await deps.index.recent(stream), { player, nowMs });
  const opening: TurnInput = {
    type: 'open',
    turnId,
    observation: tape.observation,
    context: tape.context,
    npcState: tape.npcState,
    ...defined({ persona: tape.persona, player, actor: tape.actor, memories, rulesetId: tape.rulesetId, resumedFrom }),
    ...defined({ conversation }),
    deadlineAt: new Date(nowMs + deps.turnDeadlineMs).toISOString(),
  };
  const results: TurnInput[] = output === undefined ? [] : [{ type: 'output', generatedOutput: output }];
  const { observation, context, npcState } = tape;
  const wrongActor = noticed({ observation, context, npcState }, step, 0);
  return record(deps, step, turnId, [opening, ...wrongActor, ...results]);
};

/** Opens a turn from the tape alone: it begins with the contents of the tape and of the step. */
const resume = (deps: StepWork, step: Step, begun: Pick<Begun, 'searchedTo' | 'resumedFrom'>): Promise<Stepped> => {
  const tape = resumable(withResult(step));
  const resumed = { ...step, tape };
  if (tape.actor === undefined || !tape.vectorQueried) return openTurn(deps, resumed, begun);
  const bringsOutput = step.result !== null && step.result !== 'unknown' && step.result.type === 'output';
  const output = bringsOutput || tape.generatedOutput !== '' ? tape.generatedOutput : undefined;
  return openTurn(deps, resumed, { ...begun, memories: tape.memories, ...defined({ output }) });
};

/**
 * Resumes a lost turn once, however often its steps are repeated. Within this process the repeats are queued, and all but the first find its
 * successor. Two processes may both find none. Then both open one with the same command id, the runtime refuses the second with BUSY, and that one
 * searches again.
 */
const resumeOnce = (deps: StepWork, step: Step, lost: string): Promise<Stepped> =>
  deps.repository.runExclusive(`resume ${step.stream} ${lost}`, async () => {
    // Taken before the search, so the new turn's first read includes everything that another server records from now on.
    const searchedTo = (await deps.writers.current(step.stream, mindFold)).revision;
    const successor = await successorOf(deps, step.stream, lost);
    if (successor !== null) return takeStep(deps, step, successor);
    const commandId = `resume_${shortDigest(`${step.stream} ${lost}`)}`;
    const shared = { ...step, by: { ...step.by, commandId } };
    try {
      return await resume(deps, shared, { searchedTo, resumedFrom: lost });
    } catch (failure) {
      const isBusy = failure instanceof Rejection && failure.code === 'BUSY';
      const other = isBusy ? await successorOf(deps, step.stream, lost) : null;
      if (other === null) throw failure;
      return takeStep(deps, step, other);
    }
  });

/** The turn that resumes a lost one, even if resumed turns were lost too; null if none of them can continue. */
const successorOf = async (deps: StepDeps, stream: string, lost: string): Promise<OpenedTurn | null> => {
  const seen = new Set<string>();
  for (let id = lost; !seen.has(id);) {
    seen.add(id);
    const next = await deps.index.successor(stream, id);
    if (next === undefined) return null;
    const target = await targetOf(deps, stream, next);
    if (target.kind === 'known') return target.known;
    id = next;
  }
  return null;
};

/** Sends inputs to a turn, which records and answers them. */
const record = async (
  deps: StepWork,
  { stream, by }: Step,
  turnId: string,
  inputs: readonly TurnInput[],
): Promise<Stepped> => {
  const brought = inputs.filter(({ type }) => type !== 'mismatch');
  // The conversation is not the client's, and has its own limit.
  await takeRecordable(brought.map((input) => (input.type === 'open' ? { ...input, conversation: [] } : input)));
  deps.signal.throwIfAborted();
  const { answer, revision, position } = await deps.runtime.ask(refOf(stream, turnId), inputs, by);
  return { answer: answer as TurnAnswer, revision, position };
};
