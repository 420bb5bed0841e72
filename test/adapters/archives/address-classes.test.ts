import { describe, expect, it } from 'vitest';

import { isPublicAddress, isServerAddress } from '../../../src/adapters/archives/address-classes.js';

describe('an address', () => {
  it.each(['1.1.1.1', '93.184.215.14', '172.32.0.1', '100.128.0.1', '169.253.0.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s is public',
    (address) => {
      expect([isPublicAddress(address), isServerAddress(address)]).toEqual([true, true]);
    },
  );

  it.each([
    ...['127.0.0.1', '127.255.255.254', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1'],
    ...['198.18.0.1', '192.0.2.1', '203.0.113.9', '::1', 'fc00::1', 'fdff::1'],
  ])('%s belongs to a private network [8.5o]', (address) => {
    expect([isPublicAddress(address), isServerAddress(address)]).toEqual([false, true]);
  });

  it.each([
    ...['0.0.0.0', '0.1.2.3', '169.254.169.254', '192.0.0.8', '224.0.0.1', '255.255.255.255', '240.0.0.1'],
    ...['::', 'fe80::1', 'ff02::1', 'fec0::1', '::ffff:1.1.1.1', '::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::127.0.0.1'],
    ...['64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::', '2001::1', '2001:db8::1', '3fff::1', 'fe80::1%eth0'],
    ...['', 'localhost', '127.1', '0x7f000001', '1.1.1.1 ', '[::1]'],
  ])('%s is never the address of a server [8.5o, 8.5p]', (address) => {
    expect([isPublicAddress(address), isServerAddress(address)]).toEqual([false, false]);
  });
});
