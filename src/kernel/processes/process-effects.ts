import type { AnyStateMachine, Effect } from './state-machine.js';
import type { CommandContext } from '../base/command-context.js';
import type { ProcessInput, ProcessRef } from '../../ports/process-runtime.js';
import type { Fold } from '../streams/fold.js';

/** What a process's steps need from the world. */
export type ProcessEffects = {
  /** How the stream's own state is folded. */
  readonly fold: Fold<unknown>;
  /**
   * Reads what the transitions need beside the state, and returns how the facts follow from it and from the stream's own state. That function is called at
   * the very moment of the decision: the decision then sees exactly what precedes its events.
   */
  prepare(
    ref: ProcessRef,
    state: unknown,
    inputs: readonly ProcessInput[],
    by: CommandContext,
  ): Promise<(streamState: unknown) => unknown>;
  /** How long one attempt at an effect of this process may take, in milliseconds; EFFECT_MS at most, and where it is left out. */
  readonly effectMs?: number;
  /**
   * Runs one effect and returns the input that it makes. Must be idempotent by the effect's id. The signal aborts when its time is up and when the
   * state stops waiting for it; what comes after that is ignored.
   */
  effect(ref: ProcessRef, effect: Effect, signal: AbortSignal): Promise<ProcessInput>;
};

/** A process with what its steps need. */
export type ProcessWithEffects = ProcessEffects & { readonly process: AnyStateMachine };
