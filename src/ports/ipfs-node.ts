import type { PayloadSource } from './payload-source.js';

/** An IPFS node that stores files for this server. Its ids are CIDs (kernel/crypto/ipfs-cid.ts). */
export interface IpfsNode extends PayloadSource {
  /**
   * Adds a file as `ipfs add --cid-version=1` does, and pins it. A repeat changes nothing. Returns the CID that the node reports.
   * @throws Rejection ARCHIVE_UNAVAILABLE; the reason of the signal
   */
  add(bytes: Uint8Array, signal?: AbortSignal): Promise<string>;
  /** @throws Rejection ARCHIVE_UNAVAILABLE if it does not answer promptly */
  ping(): Promise<void>;
}
