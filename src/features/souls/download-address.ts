import { isContentDigest } from '../../kernel/crypto/content-digest.js';
import { isIpfsCid } from '../../kernel/crypto/ipfs-cid.js';

/** Where clients may read payloads without a key. URLs have no slash at their end; null where there is none. */
export type DownloadPlaces = {
  readonly publicUrl: string;
  readonly ipfsGatewayUrl: string | null;
  readonly arweaveGatewayUrl: string | null;
  /** The first of the gateways that have ids of any form. */
  readonly otherGatewayUrl: string | null;
};

/** Where the built-in archive of a server is (contract 8.1). @param publicUrl without a slash at its end */
export const archiveAddress = (publicUrl: string): string => `${publicUrl}/archive`;

/** Where it answers a payload. */
export const archiveUrl = (publicUrl: string, txId: string): string => `${archiveAddress(publicUrl)}/${txId}`;

/**
 * Where a client is told to read a payload: behind this address stands the id (contract 8.3, 8.5).
 * @param isKept whether the built-in archive has it
 */
export const downloadAddress = (id: string, isKept: boolean, places: DownloadPlaces): string => {
  const { publicUrl, ipfsGatewayUrl, arweaveGatewayUrl, otherGatewayUrl } = places;
  const own = archiveAddress(publicUrl);
  if (isKept) return own;
  const byForm = isIpfsCid(id) ? ipfsGatewayUrl : isContentDigest(id) ? arweaveGatewayUrl : null;
  return byForm ?? otherGatewayUrl ?? own;
};
