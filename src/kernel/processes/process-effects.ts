import type { AnyStateMachine, Effect } from './state-machine.js';
import type { CommandContext } from '../base/command-context.js';
import type { ProcessInput, ProcessRef } from '../../ports/process-runtime.js';
import type { Fold } from '../streams/fold.js';

/** The dependencies of a process's steps. */
export type ProcessEffects = {
  /** How the stream's own state is folded. */
  readonly fold: Fold<unknown>;
  /**
   * Reads what the transitions need in addition to the state, and returns how the facts follow from it and from the stream's own state. That function
   * is called at the moment of the decision, so that the decision sees exactly what precedes its events. It returns undefined if `streamState` has
   * changed so much that other things have to be read first.
   * @param streamState the stream's own state, which may be older than the one at the moment of the decision
   */
  prepare(
    ref: ProcessRef,
    state: unknown,
    inputs: readonly ProcessInput[],
    by: CommandContext,
    streamState: unknown,
  ): Promise<(streamState: unknown) => unknown>;
  /** How long one attempt at an effect of this process may take, in milliseconds: at most EFFECT_MS, which is also the default. */
  readonly effectMs?: number | ((effect: Effect) => number);
  /**
   * Runs one effect and returns the input that it produces. Must be idempotent by the effect's id. The signal aborts at the timeout and when the
   * state stops waiting for the effect; any later result is ignored.
   */
  effect(ref: ProcessRef, effect: Effect, signal: AbortSignal): Promise<ProcessInput>;
};

/** A process with what its steps need. */
export type ProcessWithEffects = ProcessEffects & { readonly process: AnyStateMachine };
