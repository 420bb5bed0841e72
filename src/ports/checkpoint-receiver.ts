/** A receiver outside this server that keeps checkpoints. */
export interface CheckpointReceiver {
  /**
   * Sends one note. It may arrive twice: the receiver may have got it although this failed.
   * @throws Error with a message that says why it was not accepted; the reason of the signal
   */
  handOn(note: string, signal: AbortSignal): Promise<void>;
  /** The size of the last checkpoint that it keeps of the log with this name; null if it cannot tell, or keeps none. */
  lastSize(origin: string): Promise<number | null>;
}
