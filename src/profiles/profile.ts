import type { DiskFigures } from '../adapters/embedded/disk-figures.js';
import type { AdvanceDeps } from '../../activities/advance.js';
import type { DependencyState } from '../kernel/http/status.js';
import type { Metrics } from '../ports/metrics.js';
import type { Ports } from '../ports/ports.js';
import type { ReplaySource } from '../roles/replay-messages.js';
import type { ProcessRuntime } from '../ports/process-runtime.js';

/**
 * The part of keeping the read models current that runs here. Each figure is null if its part does not run here, and rejects if it cannot be read.
 */
export type RunningReadModels = AsyncDisposable & {
  /** How far behind the slowest read model is. */
  lag(): Promise<number | null>;
  /** The number of parked events, which a read model could not apply. */
  parked(): Promise<number | null>;
  /** How far behind the relay is. */
  relayLag(): Promise<number | null>;
  /** How many texts have no vector yet. */
  unembedded(): Promise<number | null>;
  /** How many texts were embedded in the background since the start. */
  embedded(): Promise<number | null>;
};

/** One profile, opened: its ports, and how processes and read models are driven on it. */
export type Profile = AsyncDisposable & {
  readonly ports: Ports;
  readonly secret: Uint8Array;
  /** Problems that do not prevent the start but should be fixed. */
  readonly warnings: readonly string[];
  /** Whether other programs write the same streams. */
  readonly shared: boolean;
  /** Where the threads of replays read events. */
  readonly replaySource: ReplaySource;
  /** Whether this process serves requests, and whether it drives processes. */
  readonly serves: { readonly requests: boolean; readonly processes: boolean };
  /** The runtime for the steps of requests; not started. */
  openRuntime(stepDeps: AdvanceDeps): ProcessRuntime;
  /** Starts what drives open processes here: timers, effects, steps. Disposed of before the engine. */
  startProcesses(stepDeps: AdvanceDeps, runtime: ProcessRuntime, metrics: Metrics): Promise<AsyncDisposable>;
  /** Starts what keeps the read models current here. Disposed of before the profile. */
  startReadModels(): Promise<RunningReadModels>;
  /** The sizes of the event store and of the free space on its disk; null if it is on another machine. */
  disk(): Promise<DiskFigures | null>;
  /** Called for each `GET /readyz`; answers within 2 s. */
  dependencies(): Promise<Readonly<Record<string, DependencyState>>>;
};
