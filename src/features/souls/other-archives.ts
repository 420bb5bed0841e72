import type { IpfsNode } from '../../ports/ipfs-node.js';
import type { PayloadSource } from '../../ports/payload-source.js';
import type { DownloadPlaces } from './download-address.js';
import type { SoulGateways } from './soul-gateways.js';

/** Where clients upload souls to Arweave: to `url`, with a token that permits only uploads; `gateway`, at `gatewayUrl`, shows what has arrived. */
export type Bundler = {
  readonly url: string;
  readonly token: string;
  readonly gateway: PayloadSource;
  readonly gatewayUrl: string;
};

/** The configured archives in addition to the built-in one. */
export type OtherArchives = Omit<DownloadPlaces, 'publicUrl'> & {
  /** Stores exports to IPFS; null without a node. */
  readonly ipfs: IpfsNode | null;
  readonly gateways: SoulGateways;
  /** Null: clients upload souls to the built-in archive. */
  readonly bundler: Bundler | null;
};
