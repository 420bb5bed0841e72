import { lookup } from 'node:dns/promises';
import { request as plainRequest, type IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';

import type { GatewayAddress } from '../../ports/payload-source.js';
import { isPublicAddress, isServerAddress } from './address-classes.js';

/** The addresses of a host. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** The maximum number of redirects that are followed. */
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Whether a name is this machine, whatever a name server answers (RFC 6761, section 6.3). Kubo's own gateway gives each file a name below it. */
const isLoopbackName = (host: string): boolean => /(^|\.)localhost$/.test(host);
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

const addressesOf = (host: string, resolve: Resolve): readonly string[] | Promise<readonly string[]> => {
  if (isLoopbackName(host)) return LOOPBACK;
  return isIP(host) === 0 ? resolve(host) : [host];
};

/**
 * The addresses of a URL's host, each of which may be connected to.
 * @throws Error if one may not: the name server chooses the order, so one forbidden address is enough to refuse them all
 */
export const checkedAddresses = async (url: URL, isPrivate: boolean, resolve: Resolve): Promise<readonly string[]> => {
  const host = hostOf(url);
  const addresses = await addressesOf(host, resolve);
  const mayBe = isPrivate ? isServerAddress : isPublicAddress;
  if (addresses.length === 0 || !addresses.every(mayBe)) {
    throw new Error(`the host ${host} has an address that is not on the public internet`);
  }
  return addresses;
};

/** A lookup that returns the checked address, so that Node does not resolve the name again, when it could have another address. */
export const pinned =
  (addresses: readonly string[]): LookupFunction =>
  (_, { all }, done) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = found;
    if (all === true) done(null, found);
    else done(null, first?.address ?? '', first?.family);
  };

const getOnce = (
  url: URL,
  addresses: readonly string[],
  reached: () => void,
  signal: AbortSignal,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? tlsRequest : plainRequest;
    const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'anima' };
    const taken = (answer: IncomingMessage): void => {
      // A reader of the answer gets the error; without a reader it does not matter.
      answer.on('error', () => undefined);
      resolve(answer);
    };
    request(url, { lookup: pinned(addresses), agent: false, headers, signal }, taken)
      .on('socket', (socket) => socket.once('connect', reached))
      .on('error', reject)
      .end();
  });

/** The target of a redirect, if it may be followed: the same host or a name below it, with the same protocol and port. */
const redirected = (from: URL, location: string | undefined, start: URL): URL | null => {
  if (location === undefined || !URL.canParse(location, from.href)) return null;
  const to = new URL(location, from);
  const isBelow = to.hostname === start.hostname || to.hostname.endsWith(`.${start.hostname}`);
  const isSame = to.protocol === start.protocol && to.port === start.port && to.username === '' && to.password === '';
  return isBelow && isSame ? to : null;
};

/**
 * Gets the content of a gateway under a path. Only its own host is contacted, at an address that was checked first.
 * @param reached called whenever a connection is established
 * @throws Error if it cannot be reached, has a forbidden address, or redirects elsewhere; the reason of the signal
 */
export const checkedGet = async (
  { url, isPrivate }: GatewayAddress,
  path: string,
  { resolve, reached }: { readonly resolve: Resolve; readonly reached: () => void },
  signal: AbortSignal,
): Promise<IncomingMessage> => {
  const start = new URL(`${url}/${path}`);
  let at = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    // A name below a private host is not the one that the operator configured, unless it resolves without a name server.
    const isNamed = at.hostname === start.hostname || isLoopbackName(at.hostname);
    const addresses = await checkedAddresses(at, isPrivate && isNamed, resolve);
    signal.throwIfAborted();
    const answer = await getOnce(at, addresses, reached, signal);
    if (!REDIRECTS.has(answer.statusCode ?? 0)) return answer;
    answer.destroy();
    const next = redirected(at, answer.headers.location, start);
    if (next === null) throw new Error(`the host ${at.hostname} redirects to another host`);
    at = next;
  }
  throw new Error(`the host ${start.hostname} redirects too many times`);
};
