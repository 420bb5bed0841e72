/**
 * The relay's place, which one process at a time holds, and its checkpoint. Both are in one record, so a process that lost the place cannot move the
 * checkpoint. A holder that does not renew loses the place after a bounded time, by the store's own clock.
 * Failures: any throw means that it is unknown whether the call took effect.
 */
export interface RelayLease {
  /** How long the place is held without being renewed, in milliseconds. */
  readonly holdsMs: number;
  /** The checkpoint (0 at first), or null while another holder has the place. */
  take(holder: string): Promise<number | null>;
  /** Renews and writes the checkpoint; false when another holder has taken the place. */
  keep(holder: string, position: number): Promise<boolean>;
  /** Leaves the place to the next at once. */
  release(holder: string): Promise<void>;
}
