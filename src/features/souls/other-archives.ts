import type { IpfsNode } from '../../ports/ipfs-node.js';
import type { PayloadSource } from '../../ports/payload-source.js';
import type { DownloadPlaces } from './download-address.js';
import type { SoulGateways } from './soul-gateways.js';

/** Where clients bring souls to Arweave: to `url`, with a token that allows them nothing but uploads; `gateway`, at `gatewayUrl`, shows what is there. */
export type Bundler = {
  readonly url: string;
  readonly token: string;
  readonly gateway: PayloadSource;
  readonly gatewayUrl: string;
};

/** The configured archives in addition to the built-in one. */
export type OtherArchives = Omit<DownloadPlaces, 'publicUrl'> & {
  /** Keeps what is exported to IPFS; null without a node. */
  readonly ipfs: IpfsNode | null;
  readonly gateways: SoulGateways;
  /** Null: clients bring souls to the built-in archive. */
  readonly bundler: Bundler | null;
};
