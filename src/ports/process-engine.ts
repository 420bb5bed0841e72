import type { JsonObject } from '../domain/shared/json.js';

/** Which process: its table, its id, and the stream that holds its events. Its identity is stream and id: ids are unique in one stream only. */
export type ProcessRef = { readonly process: string; readonly id: string; readonly stream: string };

/** The identity of a process as one string. */
export const processKey = ({ stream, id }: ProcessRef): string => `${stream} ${id}`;

/** On whose behalf a process is asked. */
export type AskedBy = {
  readonly tenant: string;
  readonly actor: string;
  readonly commandId: string;
  readonly correlationId: string;
  readonly causationId: string | null;
};

/** What a step got: the process's own answer, and the stream's revision and the global position when it was answered. */
export type Asked = { readonly answer: unknown; readonly revision: number; readonly position: number };

export type ProcessInput = JsonObject & { readonly type: string };

/**
 * Drives durable processes. The stream is the truth; an engine holds nothing that folding it would not bring back.
 *
 * Order: inputs of one process are taken one at a time. Atomicity: the inputs of one `ask` are recorded in one append, before it resolves.
 * Deadlines fall due also while nobody asks and after a restart, late ones at once; effects that a state waits for are started again.
 * Failures: Rejection of the table's refusals, BUSY when too many wait for one process, and what the event store raises. Nothing was recorded then.
 */
export interface ProcessEngine extends AsyncDisposable {
  /** Takes up every process that was left open. */
  start(): Promise<void>;
  ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: AskedBy): Promise<Asked>;
}
