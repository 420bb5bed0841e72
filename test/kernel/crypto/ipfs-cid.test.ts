import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { ipfsCid, isIpfsCid } from '../../../src/kernel/crypto/ipfs-cid.js';

const cidOf = (bytes: Uint8Array): string => {
  const work = ipfsCid(bytes);
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
};
/** Reproducible bytes: SHA-256 in counter mode. */
const noise = (length: number): Buffer => {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, n) =>
    createHash('sha256').update(String(n)).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
};
/** The output of Kubo 0.40.1 for `ipfs add --cid-version=1` of this much noise. */
const ofKubo: readonly (readonly [number, string])[] = [
  [1, 'bafkreigs4kw7of33pkfp3w6bfuldjtzd5inhcaqpnijqqbykczaa7nup3y'],
  [262_144, 'bafkreiajsvsnwv5otpbfcvpzcal4iwg7z64dvrmmfd7r7grhuikosrutri'],
  [262_145, 'bafybeifgc5fyeww7tiepri2hwh2gwu7qyzlcuaf5lugrsblripg64mx5yu'],
  [524_288, 'bafybeic6m6mo3txugozrwogcg2tuvyytr7b26bqvtvu2jrdgpu5zayabni'],
  [600_000, 'bafybeig3mxlp6od42256fh35o5z3xns4kelhnovsgorfx4wm7njcl43goy'],
  [16_777_216, 'bafybeif37ja7tfp4evv6zqlkem5orfnvzifaw7l2wgha3eyjtuyifigkim'],
];

describe('the CID of a file', () => {
  it('matches known values for no bytes, and for a text', () => {
    expect(cidOf(Buffer.alloc(0))).toBe('bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku');
    expect(cidOf(Buffer.from('hello world'))).toBe('bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e');
  });

  it.each(ofKubo)('of %i bytes matches Kubo [7.2d]', (length, cid) => {
    expect(cidOf(noise(length))).toBe(cid);
  });

  it('changes with any byte, wherever it is', () => {
    const bytes = noise(600_000);
    const cids = [0, 262_143, 262_144, 599_999].map((at) => {
      const other = Buffer.from(bytes);
      other[at] = (other[at] ?? 0) ^ 1;
      return cidOf(other);
    });
    expect(new Set([...cids, cidOf(bytes)]).size).toBe(5);
  });

  it('pauses after each chunk, so that other work can run', () => {
    expect([...ipfsCid(noise(600_000))]).toEqual([262_144, 262_144, 75_712]);
  });

  it('is not made for more than one node can hold', () => {
    expect(() => cidOf(Buffer.alloc(174 * 262_144 + 1))).toThrow(RangeError);
  });
});

describe('a text', () => {
  it.each(ofKubo)('is recognised as the CID of %i bytes', (_, cid) => {
    expect(isIpfsCid(cid)).toBe(true);
  });

  it.each([
    '',
    'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG',
    'BAFKREIHDWDCEFGH4DQKJV67UZCMW7OJEE6XEDZDETOJUZJEVTENXQUVYKU',
    'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvykv',
    'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyk',
    'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku/',
    'bafyreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku',
  ])('is not one of our CIDs: %j', (text) => {
    expect(isIpfsCid(text)).toBe(false);
  });
});
