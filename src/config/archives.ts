import { isIP } from 'node:net';

import type { GatewayAddress } from '../ports/payload-source.js';
import { type AccessSource, apiKeySetting } from './server-access.js';
import { plainUrl } from './values.js';

/** Archives in addition to the built-in one. URLs have no trailing slash. */
export type ArchivesConfig = {
  /** The RPC API of an IPFS node. */
  readonly ipfsApiUrl: string | null;
  readonly ipfsGateway: GatewayAddress | null;
  readonly arweaveGateway: GatewayAddress | null;
  /** Where clients upload souls, and with which token; never without an `arweaveGateway`. */
  readonly bundler: { readonly url: string; readonly token: string } | null;
  /** What else may be fetched from. */
  readonly gateways: readonly GatewayAddress[];
  /** The thumbprints of the keys whose souls are taken; null: all are. */
  readonly soulTrust: ReadonlySet<string> | null;
};

const MAX_GATEWAYS = 16;
/** Before a URL: its host may be one of the private network, whatever its name says. */
const PRIVATE = 'private+';
const THUMBPRINT = /^[A-Za-z0-9_-]{43}$/;

const isPrivateName = ({ hostname }: URL): boolean =>
  isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || /(^|\.)localhost$/.test(hostname);

/** A gateway's URL; null for a wrong one. A host that is an address, or this machine, is named as what it is. */
const gatewayAddress = (text: string): GatewayAddress | null => {
  const isMarked = text.startsWith(PRIVATE);
  const url = plainUrl(isMarked ? text.slice(PRIVATE.length) : text);
  return url === null ? null : { url, isPrivate: isMarked || isPrivateName(new URL(url)) };
};

const words = (text: string | null): readonly string[] => text?.split(/[\s,]+/).filter((word) => word !== '') ?? [];

/** Reads which archives this server uses beyond its own, and whose souls it takes. */
export const readArchives = (source: AccessSource): ArchivesConfig => {
  const { text, problems } = source;
  const one = <T>(name: string, read: (value: string) => T | null): T | null => {
    const given = text(name);
    const value = given === null ? null : read(given);
    if (given !== null && value === null) {
      problems.push(
        `${name} must be an http or https URL without a name, a password or a query (its value is not shown, as it may hold a password).`,
      );
    }
    return value;
  };
  const given = words(text('ANIMA_SOUL_GATEWAYS'));
  const gateways = given.map(gatewayAddress).filter((address) => address !== null);
  if (gateways.length < given.length || given.length > MAX_GATEWAYS) {
    problems.push(
      `ANIMA_SOUL_GATEWAYS must be up to ${String(MAX_GATEWAYS)} http or https URLs without a name, a password or a query, separated by commas or white space; "${PRIVATE}" before one allows a host of the private network (the value is not shown, as it may hold a password).`,
    );
  }
  const kids = words(text('ANIMA_SOUL_TRUST'));
  const wrong = kids.find((kid) => !THUMBPRINT.test(kid));
  if (wrong !== undefined) {
    problems.push(
      `ANIMA_SOUL_TRUST must be thumbprints of keys (43 characters of base64url, as "kid" in a key set), separated by commas or white space, not ${JSON.stringify(wrong)}.`,
    );
  }
  const ipfsApiUrl = one('IPFS_API_URL', plainUrl);
  if (ipfsApiUrl?.endsWith('/api/v0') === true) {
    problems.push('IPFS_API_URL must be written without "/api/v0" at its end, for example http://127.0.0.1:5001.');
  }
  const bundlerUrl = one('ARWEAVE_BUNDLER_URL', plainUrl);
  const token = apiKeySetting(source, 'ARWEAVE_BUNDLER_KEY');
  if (text('ARWEAVE_BUNDLER_URL') !== null) {
    if (text('ARWEAVE_GATEWAY_URL') === null) {
      problems.push('ARWEAVE_BUNDLER_URL needs ARWEAVE_GATEWAY_URL as well: it is where uploaded souls are read.');
    }
    if ((text('ARWEAVE_BUNDLER_KEY') ?? text('ARWEAVE_BUNDLER_KEY_FILE')) === null) {
      problems.push('ARWEAVE_BUNDLER_URL needs ARWEAVE_BUNDLER_KEY_FILE as well: clients upload with that token.');
    }
  } else if (token !== null) {
    problems.push('ARWEAVE_BUNDLER_KEY needs ARWEAVE_BUNDLER_URL as well.');
  }
  return {
    bundler: bundlerUrl === null || token === null ? null : { url: bundlerUrl, token },
    ipfsApiUrl,
    ipfsGateway: one('IPFS_GATEWAY_URL', gatewayAddress),
    arweaveGateway: one('ARWEAVE_GATEWAY_URL', gatewayAddress),
    gateways,
    soulTrust: kids.length === 0 ? null : new Set(kids),
  };
};
