import type { IpfsNode } from '../../ports/ipfs-node.js';

/** Archives beyond the built-in one, as this server is configured (contract 11.1). */
export type OtherArchives = {
  /** Keeps what is exported to IPFS; null without a node. */
  readonly ipfs: IpfsNode | null;
};

/** What a server has that is told of none. */
export const noOtherArchives: OtherArchives = { ipfs: null };
