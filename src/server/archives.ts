import { systemResolve } from '../adapters/archives/checked-get.js';
import { createCheckpointReceiver } from '../adapters/archives/checkpoint-receiver.js';
import { createGateway } from '../adapters/archives/gateway.js';
import { createIpfsNode } from '../adapters/archives/ipfs-node.js';
import type { OtherArchives } from '../features/souls/other-archives.js';
import { createSoulGateways } from '../features/souls/soul-gateways.js';
import type { ArchivesConfig } from '../config/archives.js';
import type { CheckpointReceiver } from '../ports/checkpoint-receiver.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { GatewayAddress, PayloadSource } from '../ports/payload-source.js';

/** The external archives. Creating them opens no connection. */
export const openArchives = (
  { ipfsApiUrl, ipfsGateway, arweaveGateway, bundler, gateways }: ArchivesConfig,
  deps: { readonly clock: Clock; readonly log: Log },
): OtherArchives => {
  const gateway = (address: GatewayAddress): PayloadSource =>
    createGateway(address, { ...deps, resolve: systemResolve });
  const ipfs = ipfsApiUrl === null ? null : createIpfsNode(ipfsApiUrl, deps);
  const arweave = arweaveGateway === null ? null : { gateway: gateway(arweaveGateway), gatewayUrl: arweaveGateway.url };
  const sources = {
    ipfs: [...(ipfs === null ? [] : [ipfs]), ...(ipfsGateway === null ? [] : [gateway(ipfsGateway)])],
    arweave: arweave === null ? [] : [arweave.gateway],
    others: gateways.map(gateway),
  };
  return {
    ipfs,
    gateways: createSoulGateways(sources, deps),
    bundler: bundler === null || arweave === null ? null : { ...bundler, ...arweave },
    ipfsGatewayUrl: ipfsGateway?.url ?? null,
    arweaveGatewayUrl: arweaveGateway?.url ?? null,
    otherGatewayUrl: gateways[0]?.url ?? null,
  };
};

/** The external receiver of checkpoints (ANIMA_CHECKPOINT_URL), or null. */
export const openCheckpointReceiver = (
  url: string | null,
  clock: Clock,
  log: Pick<Log, 'warn'>,
): CheckpointReceiver | null =>
  url === null ? null : createCheckpointReceiver(url, { clock, resolve: systemResolve, log });
