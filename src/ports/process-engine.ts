import type { JsonObject } from '../domain/shared/json.js';

/** Which process: its table, its id, and the stream that holds its events. */
export type ProcessRef = { readonly process: string; readonly id: string; readonly stream: string };

/** On whose behalf a process is asked. */
export type AskedBy = {
  readonly tenant: string;
  readonly actor: string;
  readonly commandId: string;
  readonly correlationId: string;
  readonly causationId: string | null;
};

/** What an ask got: the process's own answer, and the stream's revision and the global position at that time. */
export type Asked = { readonly answer: unknown; readonly revision: number; readonly position: number };

export type ProcessInput = JsonObject & { readonly type: string };

/**
 * Drives durable processes. The stream is the truth; an engine holds nothing that folding it would not bring back.
 *
 * Order: inputs of one process are taken one at a time. Atomicity: the inputs of one `ask` are recorded in one append, before it resolves. Deadlines
 * fall due without a request, and late ones at once after a restart. Effects that a state waits for are started again.
 * Failures: Rejection of the table's refusals, BUSY when too many wait for one process, and what the event store raises. Nothing was recorded then.
 */
export interface ProcessEngine extends AsyncDisposable {
  /** Resumes every process that was left open. */
  start(): Promise<void>;
  ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: AskedBy): Promise<Asked>;
}
