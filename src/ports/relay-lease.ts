/**
 * The relay's lease, which one process at a time holds, and its checkpoint. Both are in one record, so a process that lost the lease cannot move the
 * checkpoint. A holder that does not renew loses the lease after a bounded time, by the store's own clock.
 * Failures: if anything throws, it is unknown whether the call took effect.
 */
export interface RelayLease {
  /** How long the lease lasts without being renewed, in milliseconds. */
  readonly holdsMs: number;
  /** The checkpoint (0 at first), or null while another holder has the lease. */
  take(holder: string): Promise<number | null>;
  /** Renews and writes the checkpoint; false if another holder has taken the lease. */
  keep(holder: string, position: number): Promise<boolean>;
  /** Releases the lease to the next holder immediately. */
  release(holder: string): Promise<void>;
}
