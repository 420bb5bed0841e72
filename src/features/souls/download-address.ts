import { isContentDigest } from '../../kernel/crypto/content-digest.js';
import { isIpfsCid } from '../../kernel/crypto/ipfs-cid.js';

/** Where clients may read payloads without a key. URLs have no trailing slash; null if there is none. */
export type DownloadPlaces = {
  readonly publicUrl: string;
  readonly ipfsGatewayUrl: string | null;
  readonly arweaveGatewayUrl: string | null;
  /** The first of the gateways that have ids of any form. */
  readonly otherGatewayUrl: string | null;
};

/** The URL of the built-in archive of a server. @param publicUrl without a slash at its end */
export const archiveAddress = (publicUrl: string): string => `${publicUrl}/archive`;

/** The URL of a payload in it. */
export const archiveUrl = (publicUrl: string, txId: string): string => `${archiveAddress(publicUrl)}/${txId}`;

/**
 * The URL that a client appends an id to in order to read the payload.
 * @param isKept whether the built-in archive has it
 */
export const downloadAddress = (id: string, isKept: boolean, places: DownloadPlaces): string => {
  const { publicUrl, ipfsGatewayUrl, arweaveGatewayUrl, otherGatewayUrl } = places;
  const own = archiveAddress(publicUrl);
  if (isKept) return own;
  const byForm = isIpfsCid(id) ? ipfsGatewayUrl : isContentDigest(id) ? arweaveGatewayUrl : null;
  return byForm ?? otherGatewayUrl ?? own;
};
