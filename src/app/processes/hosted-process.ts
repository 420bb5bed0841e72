import type { AnyProcess, Effect } from '../../../workflows/process.js';
import type { AskedBy, ProcessInput, ProcessRef } from '../../ports/process-engine.js';
import type { Fold } from '../streams/fold.js';

/** A process with what its steps need from the world. */
export type HostedProcess = {
  readonly process: AnyProcess;
  /** How the stream's own state is folded. */
  readonly fold: Fold<unknown>;
  /**
   * Reads what the cells need beside the state, and returns how the facts follow from it and from the stream's own state. That function is called at
   * the very moment of the decision: the decision then sees exactly what precedes its events.
   */
  prepare(
    ref: ProcessRef,
    state: unknown,
    inputs: readonly ProcessInput[],
    by: AskedBy,
  ): Promise<(streamState: unknown) => unknown>;
  /** Runs one effect and returns the input that it makes. Must be idempotent by the effect's id. */
  effect(ref: ProcessRef, effect: Effect, signal: AbortSignal): Promise<ProcessInput>;
};
