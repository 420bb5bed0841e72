import { createIpfsNode } from '../adapters/archives/ipfs-node.js';
import type { OtherArchives } from '../app/souls/other-archives.js';
import type { ArchivesConfig } from '../config/archives.js';
import type { Clock } from '../ports/clock.js';

/** The archives beyond the built-in one. It connects to none of them. */
export const openArchives = ({ ipfsApiUrl }: ArchivesConfig, deps: { readonly clock: Clock }): OtherArchives => ({
  ipfs: ipfsApiUrl === null ? null : createIpfsNode(ipfsApiUrl, deps),
});
