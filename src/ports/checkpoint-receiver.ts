/** Somebody outside this server who keeps checkpoints. */
export interface CheckpointReceiver {
  /**
   * Hands on one note. It may come a second time: the receiver may have got it although this failed.
   * @throws Error with a sentence that says why it was not taken; the reason of the signal
   */
  handOn(note: string, signal: AbortSignal): Promise<void>;
}
