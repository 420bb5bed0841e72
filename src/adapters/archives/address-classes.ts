import { BlockList, isIP } from 'node:net';

const blocks = (family: 'ipv4' | 'ipv6', ...ranges: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix = ''] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
};

// https://www.iana.org/assignments/iana-ipv4-special-registry and -ipv6-special-registry, plus multicast and reserved ranges.

/** Addresses that no configured server can have: this host, link-local (with the metadata services of clouds), multicast, reserved. */
const never4 = blocks('ipv4', '0.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24', '224.0.0.0/4', '240.0.0.0/4');
/** Loopback, private networks, shared address space of providers, and ranges for documentation, tests and relays. */
const private4 = blocks(
  'ipv4',
  ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15'],
  ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '192.88.99.0/24'],
);
/** Loopback and unique local addresses. */
const private6 = blocks('ipv6', '::1/128', 'fc00::/7');
/** All public addresses are in the first block; the others are parts of it that are not public: Teredo and others, 6to4, documentation. */
const global6 = blocks('ipv6', '2000::/3');
const special6 = blocks('ipv6', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

/** Whether the address may belong to a server on the public internet. IPv6 forms that embed an IPv4 address count as not public. */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 4) return !never4.check(address, 'ipv4') && !private4.check(address, 'ipv4');
  return isIP(address) === 6 && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
};

/** Whether the address may belong to a server on a private network, this machine included, or on the public internet. */
export const isServerAddress = (address: string): boolean => {
  if (isIP(address) === 4) return !never4.check(address, 'ipv4');
  return isPublicAddress(address) || (isIP(address) === 6 && private6.check(address, 'ipv6'));
};
