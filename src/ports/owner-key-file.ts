/**
 * The file that holds only the owner key, on one line, readable by its owner alone.
 *
 * A new key is first `prepared` next to the file, then recorded as an event, then `settled`. So a recorded key is on the disk whenever the process is
 * killed, and the earlier file is unchanged until then. Both steps are flushed before their promise resolves.
 * Failures: StartProblem if the directory cannot be written.
 */
export interface OwnerKeyFile {
  /** The path of the settled key, for messages. */
  readonly path: string;
  /** Keeps a key that may be recorded next; replaces one that was prepared before. */
  prepare(key: string): Promise<void>;
  /** The key that was prepared and not settled, or null. */
  prepared(): Promise<string | null>;
  /** Makes the prepared key the content of the file. */
  settle(): Promise<void>;
  /** Drops the prepared key; the file is unchanged. */
  discard(): Promise<void>;
}
