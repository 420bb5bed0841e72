/** A source outside this server that may have payloads of its archive. Its answers are not trusted. */
export interface PayloadSource {
  /** Its name in refusals and logs. */
  readonly name: string;
  /**
   * The bytes under an id; null if it has none, `too_large` if it has more than MAX_ARCHIVED_BYTES.
   * @param id must be valid in a path without encoding: letters, digits, "_" and "-"
   * @throws Rejection ARCHIVE_UNAVAILABLE if it does not answer, or not in time; the reason of the signal
   */
  fetch(id: string, signal?: AbortSignal): Promise<Uint8Array | 'too_large' | null>;
}

/** A gateway as the operator configures it: an id follows `url`, which ends without a slash. `isPrivate`: its host may be in the private network. */
export type GatewayAddress = { readonly url: string; readonly isPrivate: boolean };
