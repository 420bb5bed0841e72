import { isIP } from 'node:net';

import type { GatewayAddress } from '../ports/payload-source.js';
import { apiKeySetting } from './server-access.js';
import type { SettingReader } from './setting-reader.js';
import { type SettingName, settings } from './settings.js';
import { plainUrl } from './values.js';

/** Archives in addition to the built-in one. URLs have no trailing slash. */
export type ArchivesConfig = {
  /** The RPC API of an IPFS node. */
  readonly ipfsApiUrl: string | null;
  readonly ipfsGateway: GatewayAddress | null;
  readonly arweaveGateway: GatewayAddress | null;
  /** Where clients upload souls, and with which token; never without an `arweaveGateway`. */
  readonly bundler: { readonly url: string; readonly token: string } | null;
  /** Other places from which souls are fetched. */
  readonly gateways: readonly GatewayAddress[];
  /** The thumbprints of the keys whose souls are accepted; null accepts all. */
  readonly soulTrust: ReadonlySet<string> | null;
};

/** The prefix of a URL whose host may be in the private network. */
const PRIVATE = 'private+';
const THUMBPRINT = /^[A-Za-z0-9_-]{43}$/;

const isPrivateName = ({ hostname }: URL): boolean =>
  isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || /(^|\.)localhost$/.test(hostname);

/** The URL of a gateway; null if it is invalid. A host that is an address or this machine needs no prefix. */
const gatewayAddress = (text: string): GatewayAddress | null => {
  const isMarked = text.startsWith(PRIVATE);
  const url = plainUrl(isMarked ? text.slice(PRIVATE.length) : text);
  return url === null ? null : { url, isPrivate: isMarked || isPrivateName(new URL(url)) };
};

const words = (text: string | null): readonly string[] => text?.split(/[\s,]+/).filter((word) => word !== '') ?? [];

const MAX_GATEWAYS = settings.ANIMA_SOUL_GATEWAYS.max ?? 0;

/** Reads which external archives this server uses, and whose souls it accepts. */
export const readArchives = (source: SettingReader): ArchivesConfig => {
  const { text, problems } = source;
  const one = <T>(name: SettingName, read: (value: string) => T | null): T | null => {
    const given = text(name);
    const value = given === null ? null : read(given);
    if (given !== null && value === null) {
      problems.push(
        `${name} must be an http or https URL without a user, a password or a query (the value is not shown, because it may contain a password).`,
      );
    }
    return value;
  };
  const given = words(text('ANIMA_SOUL_GATEWAYS'));
  const gateways = given.map(gatewayAddress).filter((address) => address !== null);
  if (gateways.length < given.length || given.length > MAX_GATEWAYS) {
    problems.push(
      `ANIMA_SOUL_GATEWAYS must be up to ${String(MAX_GATEWAYS)} http or https URLs without a user, a password or a query, separated by commas or white space; "${PRIVATE}" before a URL allows a host in the private network (the value is not shown, because it may contain a password).`,
    );
  }
  const kids = words(text('ANIMA_SOUL_TRUST'));
  const wrong = kids.find((kid) => !THUMBPRINT.test(kid));
  if (wrong !== undefined) {
    problems.push(
      `ANIMA_SOUL_TRUST must be key thumbprints (43 base64url characters, as "kid" in a key set), separated by commas or white space, not ${JSON.stringify(wrong)}.`,
    );
  }
  const ipfsApiUrl = one('IPFS_API_URL', plainUrl);
  if (ipfsApiUrl?.endsWith('/api/v0') === true) {
    problems.push('IPFS_API_URL must not end in "/api/v0". Use, for example, http://127.0.0.1:5001.');
  }
  const bundlerUrl = one('ARWEAVE_BUNDLER_URL', plainUrl);
  const token = apiKeySetting(source, 'ARWEAVE_BUNDLER_KEY');
  if (text('ARWEAVE_BUNDLER_URL') !== null) {
    if (text('ARWEAVE_GATEWAY_URL') === null) {
      problems.push('ARWEAVE_BUNDLER_URL also requires ARWEAVE_GATEWAY_URL, from which uploaded souls are read.');
    }
    if ((text('ARWEAVE_BUNDLER_KEY') ?? text('ARWEAVE_BUNDLER_KEY_FILE')) === null) {
      problems.push('ARWEAVE_BUNDLER_URL also requires ARWEAVE_BUNDLER_KEY_FILE, the token with which clients upload.');
    }
  } else if (token !== null) {
    problems.push('ARWEAVE_BUNDLER_KEY also requires ARWEAVE_BUNDLER_URL.');
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
