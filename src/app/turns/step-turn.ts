import { anotherAttempt } from './another-attempt.js';
import { mindFold } from '../minds/mind.js';
import { awaits, findTurn, inputOf, isOver, type ResultInput, tapeResults } from './find-turn.js';
import type { Lanes } from '../streams/lanes.js';
import type { ProcessJournal, StreamTail } from '../processes/process-journal.js';
import type { TurnIndex } from './turn-index.js';
import { withTimeLimit } from '../../concurrency/time-limit.js';
import { requireRecordable } from '../../domain/npc/recorded-bytes.js';
import { resumable } from '../../domain/npc/resumable.js';
import { mismatches } from '../../domain/npc/tape-mismatch.js';
import type { TapeResult, Tape } from '../../domain/npc/tape.js';
import { makeTurnId } from '../../domain/npc/turn-id.js';
import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { CommandContext } from '../../domain/shared/command-context.js';
import type { ProcessEngine, ProcessRef } from '../../ports/process-engine.js';
import type { TurnAnswer } from '../../../workflows/turn-answer.js';
import type { OpenedTurn, TurnInput, TurnState } from '../../../workflows/turn-state.js';
import { turn } from '../../../workflows/turn.js';
import { shortDigest } from '../../domain/shared/sha256.js';
import { defined } from '../../domain/shared/defined.js';

export type StepDeps = {
  readonly engine: ProcessEngine;
  readonly journal: ProcessJournal;
  readonly index: TurnIndex;
  readonly lanes: Lanes;
  readonly events: EventStore;
  readonly clock: Clock;
  readonly turnDeadlineMs: number;
};

export type TurnStep = {
  readonly stream: string;
  readonly tape: Tape;
  /** null: none was sent; 'unknown': its type is not in the protocol. */
  readonly result: TapeResult | 'unknown' | null;
  readonly by: CommandContext;
  /** As a command's (run-command.ts). */
  readonly keyed: boolean;
  readonly resumed: boolean;
};

/** The answer, the revision of the mind's stream and the global position (0: nothing was recorded) when it was made. */
export type Stepped = { readonly answer: TurnAnswer; readonly revision: number; readonly position: number };

/**
 * How long a step may take in all, in milliseconds: clients wait for 15 s (contract 2.5). Each thing that it waits for has a shorter limit, but there
 * are several, and after an outage all of them may be slow.
 */
export const STEP_MS = 10_000;

/** A place for a step of this mind, before anything is read for it. @throws as ProcessEngine.enter */
export const enterStep = (engine: Pick<ProcessEngine, 'enter'>, stream: string): (() => void) =>
  engine.enter({ process: turn.name, stream });

/**
 * One step of the multi-round protocol (contract 2.2, 2.6). It finds the turn that the step means, or opens or resumes one, and passes what is new to
 * the table. It never refuses a client that remembers the turn differently: the answer comes from the record.
 * @throws Rejection EVENTS_TOO_LARGE, ENGINE_UNAVAILABLE after STEP_MS, and as ProcessEngine.ask
 */
export const stepTurn = (deps: StepDeps, step: TurnStep): Promise<Stepped> => {
  const late = (): Rejection => new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 1 });
  return withTimeLimit(deps.clock, { ms: STEP_MS, late }, (signal) => findAndStep({ ...deps, signal }, step));
};

/** What a step works with; once its signal has aborted, nothing is asked any more. */
type StepWork = StepDeps & { readonly signal: AbortSignal };

const findAndStep = async (deps: StepWork, step: TurnStep): Promise<Stepped> => {
  const result = step.result === null || step.result === 'unknown' ? step.result : inputOf(step.result);
  const { earlier, since } = await anotherAttempt(deps, turn, step);
  const meant = earlier ?? (await locate(deps, step, result));
  if (meant !== null && 'turnId' in meant) return takeStep(deps, step, result, meant);
  if (meant === null) return open(deps, step, { since });
  const { lost } = meant;
  if (lost === undefined) return resume(deps, step, result, { since });
  return deps.journal.runExclusive(`resume ${step.stream} ${lost}`, () => goOn(deps, step, result, lost));
};

type Lost = { readonly lost: string | undefined };

/** The turn a step means; null when it opens one; `lost` when it means one that is unknown or expired. */
const locate = async (
  deps: StepDeps,
  step: TurnStep,
  result: ResultInput | 'unknown' | null,
): Promise<OpenedTurn | Lost | null> => {
  const { stream, tape } = step;
  if (tape.turnId !== undefined) {
    const known = await load(deps, stream, tape.turnId);
    return isLost(deps, known) ? { lost: tape.turnId } : known;
  }
  if (result === null && tapeResults(tape).length === 0) return null;
  const { turns, tail } = await deps.index.recentWithTail(stream);
  const found = findTurn(turns, tape, result, deps.clock.now().getTime());
  if (found === null) return null;
  if (found === undefined) return { lost: undefined };
  const state = await load(deps, stream, found.turnId, tail);
  return isLost(deps, state) ? { lost: found.turnId } : state;
};

const refOf = (stream: string, id: string): ProcessRef => ({ process: turn.name, id, stream });

const load = async (deps: StepDeps, stream: string, turnId: string, tail?: StreamTail): Promise<TurnState> =>
  (await deps.journal.load(turn, refOf(stream, turnId), -1, tail)).state as TurnState;

const isLost = (deps: StepDeps, state: TurnState): state is Exclude<TurnState, OpenedTurn> =>
  // An agent's turn has no body, so to one it is as unknown as a turn of another mind.
  state.name === 'new' || state.agent === true || (state.name !== 'ended' && isOver(state, deps.clock.now().getTime()));

/**
 * Resumes a lost turn once, however often its steps are repeated. Within this process the caller's line ensures that. Across processes a command id
 * does, which every process that resumes the turn uses.
 */
const goOn = async (
  deps: StepWork,
  step: TurnStep,
  result: ResultInput | 'unknown' | null,
  lost: string,
): Promise<Stepped> => {
  // Taken before the search: the new turn's first reading meets what another server records from now on.
  const since = (await deps.lanes.current(step.stream, mindFold)).revision;
  const successor = await follow(deps, step.stream, lost);
  if (successor !== null) return takeStep(deps, step, result, successor);
  const commandId = `resume_${shortDigest(`${step.stream} ${lost}`)}`;
  try {
    return await resume(deps, { ...step, by: { ...step.by, commandId } }, result, { lost, since });
  } catch (failure) {
    const other =
      failure instanceof Rejection && failure.code === 'BUSY' ? await follow(deps, step.stream, lost) : null;
    if (other === null) throw failure;
    return takeStep(deps, step, result, other);
  }
};

/** The turn that resumes a lost one, even if resumed turns were lost too; null when none can still go on. */
const follow = async (deps: StepDeps, stream: string, lost: string): Promise<OpenedTurn | null> => {
  const seen = new Set<string>();
  for (let id = lost; !seen.has(id);) {
    seen.add(id);
    const next = await deps.index.successor(stream, id);
    if (next === undefined) return null;
    const state = await load(deps, stream, next);
    if (!isLost(deps, state)) return state;
    id = next;
  }
  return null;
};

type Carryover = {
  readonly memories?: Tape['memories'];
  readonly output?: string;
  readonly resumedFrom?: string;
  /** The revision that the turn's id carries; the last durable one when left out. */
  readonly since: number | undefined;
};

const open = async (
  deps: StepWork,
  step: TurnStep,
  { memories, output, resumedFrom, since }: Carryover,
): Promise<Stepped> => {
  const { tape, stream, by } = step;
  const nowMs = deps.clock.now().getTime();
  const revision = since ?? (await deps.lanes.current(stream, mindFold)).revision;
  const turnId = makeTurnId('process', revision, nowMs, by.commandId);
  const opening: TurnInput = {
    type: 'open',
    turnId,
    observation: tape.observation,
    context: tape.context,
    npcState: tape.npcState,
    ...defined({ persona: tape.persona, actor: tape.actor, memories, rulesetId: tape.rulesetId, resumedFrom }),
    deadlineAt: new Date(nowMs + deps.turnDeadlineMs).toISOString(),
  };
  const taken: TurnInput[] = output === undefined ? [] : [{ type: 'output', generatedOutput: output }];
  return ask(deps, step, turnId, [opening, ...taken]);
};

/** Answers from the tape alone: the new turn begins with what the tape holds and what the step brings. */
const resume = (
  deps: StepWork,
  step: TurnStep,
  result: ResultInput | 'unknown' | null,
  { lost, since }: { readonly lost?: string; readonly since: number | undefined },
): Promise<Stepped> => {
  const tape = resumable(merged(step.tape, result));
  const memories = tape.actor !== undefined && tape.vectorQueried ? tape.memories : undefined;
  const brought = result !== null && result !== 'unknown' && result.type === 'output';
  const output = memories !== undefined && (brought || tape.generatedOutput !== '') ? tape.generatedOutput : undefined;
  return open(
    deps,
    { ...step, tape },
    {
      ...defined({ memories, output, resumedFrom: lost }),
      since,
    },
  );
};

/** `lastResult` wins over the tape (contract 2.5). */
const merged = (tape: Tape, result: ResultInput | 'unknown' | null): Tape => {
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

const takeStep = (
  deps: StepWork,
  step: TurnStep,
  result: ResultInput | 'unknown' | null,
  found: OpenedTurn,
): Promise<Stepped> => {
  const tape = merged(step.tape, result);
  const members = mismatches(found, tape);
  const last = nextInput(found, tape, result);
  const round = (last.type === 'look' ? last.round : undefined) ?? found.rounds.length - 1;
  const noticed: TurnInput[] = members.length === 0 ? [] : [{ type: 'mismatch', round, members }];
  return ask(deps, step, found.turnId, [...noticed, last]);
};

/** What is new in a step; a look at an earlier round's answer when nothing is (contract 2.6: repeats, misfits, contradictions). */
const nextInput = (found: OpenedTurn, tape: Tape, result: ResultInput | 'unknown' | null): TurnInput => {
  if (result === 'unknown') return { type: 'look' };
  if (result !== null) {
    const round = found.roundOf[result.type];
    if (round !== undefined) return { type: 'look', round };
    return awaits(found, result.type) ? result : { type: 'look' };
  }
  const results = tapeResults(tape);
  const next = results.find(({ type }) => awaits(found, type));
  if (next !== undefined) return next;
  return { type: 'look', round: Math.max(0, ...results.map(({ type }) => found.roundOf[type] ?? 0)) };
};

const ask = async (deps: StepWork, step: TurnStep, turnId: string, inputs: readonly TurnInput[]): Promise<Stepped> => {
  requireRecordable(inputs.filter(({ type }) => type !== 'mismatch'));
  deps.signal.throwIfAborted();
  const ref = refOf(step.stream, turnId);
  const { answer, revision, position } = await deps.engine.ask(ref, inputs, step.by);
  return { answer: answer as TurnAnswer, revision, position };
};
