/** A checkpoint as its receiver keeps it. Nobody has checked it. */
export type KeptCheckpoint = { readonly origin: string; readonly size: number; readonly root: string };

/** A receiver outside this server that keeps checkpoints. */
export interface CheckpointReceiver {
  /**
   * Sends one note. It may arrive twice: the receiver may have got it although this failed.
   * @throws Error with a message that says why it was not accepted; the reason of the signal
   */
  handOn(note: string, signal: AbortSignal): Promise<void>;
  /**
   * The newest checkpoint that it keeps of a log, its root in hex; null if it keeps none, or nobody can ask it; 'missing' if it does not exist yet.
   * @param nameCount which of the names of the log an origin is, counted from 1; null for other logs
   * @throws Error if it should know, but cannot be read in time
   */
  lastKept(nameCount: (origin: string) => number | null): Promise<KeptCheckpoint | 'missing' | null>;
}
