/** A place outside of this server that may have payloads of its archive. Nothing that it answers is to be trusted. */
export interface PayloadSource {
  /** As refusals and logs name it. */
  readonly name: string;
  /**
   * The bytes under an id; null when it has none, `too_large` when what it has is more than MAX_ARCHIVED_BYTES.
   * @param id what may stand in a path as it is: letters, digits, "_" and "-"
   * @throws Rejection ARCHIVE_UNAVAILABLE when it does not answer, or not in time; the reason of the signal
   */
  fetch(id: string, signal?: AbortSignal): Promise<Uint8Array | 'too_large' | null>;
}

/** A gateway as the operator names it: an id stands behind `url`, which ends without a slash. `isPrivate`: its host may be one of the private network. */
export type GatewayAddress = { readonly url: string; readonly isPrivate: boolean };
