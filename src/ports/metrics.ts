/** The work of a worker for processes: a step or an effect. */
export type WorkerTask = 'step' | 'effect';
/** `refused`: by a rule of the process, because a dependency is unavailable, or by cancellation; `failed`: every unexpected outcome. */
export type WorkOutcome = 'done' | 'refused' | 'failed';

/**
 * What is counted. Some have kinds: the outcome of a turn's verdict (`valid`, `refused`, `failed`, `expired`), and the key whose requests were
 * answered with 429.
 */
export type CountedThing =
  'verdicts' | 'ruleRefusals' | 'handOnFailures' | 'tooManyRequests' | 'accessesDropped' | 'brokenEvents';

/** The metrics of the server. Counting never fails and never waits. */
export interface Metrics {
  /** Starts a timer. Pass the result on when the work has ended. */
  begin(): number;
  /** Counts a request by operation and HTTP status. */
  request(operationId: string, status: number, begun: number): void;
  /** Counts a worker's task for a process of this name, and its outcome. */
  work(task: WorkerTask, process: string, outcome: WorkOutcome, begun: number): void;
  /** Counts one of these. */
  count(what: CountedThing, kind?: string): void;
  /** All metrics as text, with its media type. */
  render(): Promise<{ readonly type: string; readonly content: string }>;
}
