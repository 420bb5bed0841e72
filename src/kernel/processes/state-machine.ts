import type { EventDraft } from '../base/event-draft.js';
import type { JsonObject } from '../base/json.js';
import type { RejectionCode } from '../base/rejection.js';
import type { ProcessStatus } from './process-step.js';
import { defined } from '../base/defined.js';

/** A recorded event of the process, as folding sees it. */
export type ProcessEvent = EventDraft & {
  readonly revision: number;
  readonly meta: { readonly at: string; readonly commandId: string; readonly schemaVersion: number };
};

type Named = { readonly name: string };
type Typed = { readonly type: string };

/**
 * What one input does in one state: nothing, a refusal, or events that lead to one of the states `to`.
 * A transition sees only the process's state, the input and the facts that it is passed: no clock, no randomness, no store.
 */
export type Transition<State, Input, Facts, Name extends string = string> =
  | 'ignore'
  | { readonly reject: RejectionCode }
  | {
      readonly to: readonly Name[];
      emit(state: State, input: Input, facts: Facts): readonly EventDraft[];
    };

/** Every state × every input: a missing transition does not compile. */
export type Transitions<State extends Named, Input extends Typed, Facts> = {
  readonly [S in State['name']]: {
    readonly [I in Input['type']]: Transition<
      Extract<State, { name: S }>,
      Extract<Input, { type: I }>,
      Facts,
      State['name']
    >;
  };
};

/**
 * Work that the state waits for. The runtime runs it concurrently with the steps, aborts it when the state stops waiting and after EFFECT_MS, and
 * repeats it until its input is recorded.
 */
export type Effect = { readonly id: string; readonly name: string; readonly args: JsonObject };

export type Deadline<Input> = { readonly at: string; readonly input: Input };

/**
 * A durable process as a value: a pure state machine that two runtimes can drive. States and inputs are plain JSON.
 * The stream is the truth: the state is the fold of the process's recorded events; effects and deadline are functions of the state.
 */
export interface StateMachine<State extends Named, Input extends Typed, Facts, Answer> {
  readonly name: string;
  /** No caller waits for its effects: a runtime that limits concurrent effects gives them separate permits. */
  readonly background?: true;
  readonly initial: State;
  readonly transitions: Transitions<State, Input, Facts>;
  /** Whether a recorded event of the stream belongs to the process with this id. */
  owns(id: string, event: EventDraft): boolean;
  /** Total: an unknown event leaves the state unchanged. */
  evolve(state: State, event: ProcessEvent): State;
  /** The one effect that this state waits for. A process without effects omits it: its marks then carry everything about its states. */
  pending?(state: State): Effect | null;
  deadline(state: State): Deadline<Input> | null;
  /** The answer to the caller of `input` (without one: for the present state); undefined before the process has begun. */
  answer(state: State, input: Input | undefined): Answer | undefined;
  over(state: State): boolean;
}

/** A process whose types are opaque to the runtimes. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- runtimes treat state, input, facts and answer as opaque JSON
export type AnyStateMachine = StateMachine<any, any, any, any>;

/** The deadline of a process in this state; null if it has none or is over. */
export const deadlineOf = (process: AnyStateMachine, state: Named): Deadline<Typed & JsonObject> | null =>
  process.over(state) ? null : (process.deadline(state) as Deadline<Typed & JsonObject> | null);

/** The effect that a process in this state waits for; null if it waits for none or is over. */
export const pendingEffect = (process: AnyStateMachine, state: Named): Effect | null =>
  process.over(state) ? null : (process.pending?.(state) ?? null);

/** Everything that a runtime keeps of a process in this state. */
export const statusOf = (process: AnyStateMachine, state: Named): ProcessStatus => {
  const effect = pendingEffect(process, state);
  return {
    state: state.name,
    due: deadlineOf(process, state)?.at ?? null,
    effect:
      effect === null ? null : { id: effect.id, name: effect.name, ...defined({ background: process.background }) },
  };
};

/** The transition for a state and an input; own members only, so that no name reaches a prototype. Unknown ones are ignored. */
export const transitionOf = (
  process: AnyStateMachine,
  state: Named,
  input: Typed,
): Transition<unknown, unknown, unknown> => {
  const transitions = process.transitions as Record<string, Record<string, Transition<unknown, unknown, unknown>>>;
  const row = Object.hasOwn(transitions, state.name) ? transitions[state.name] : undefined;
  return row !== undefined && Object.hasOwn(row, input.type) ? (row[input.type] ?? 'ignore') : 'ignore';
};
