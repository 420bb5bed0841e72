/** What a worker does for processes: it takes a step, or carries out an effect. */
export type WorkerTask = 'step' | 'effect';
/** `refused` by a rule of the process, because something is away, or by whoever cancelled it; `failed` is everything that was not foreseen. */
export type WorkOutcome = 'done' | 'refused' | 'failed';

/** What operators watch. Counting never fails and never waits. */
export interface Metrics {
  /** Begins to time something; pass the result on when it has ended. */
  begin(): number;
  /** Counts an answered request under its operation and HTTP status. */
  request(operationId: string, status: number, begun: number): void;
  /** Counts what a worker has done for a process of this name, and how it ended. */
  work(task: WorkerTask, process: string, outcome: WorkOutcome, begun: number): void;
  /** Everything counted so far, with the media type of its text. */
  render(): Promise<{ readonly type: string; readonly content: string }>;
}
