import { expect, it } from 'vitest';

import { downloadAddress } from '../../../src/features/souls/download-address.js';

const cid = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e';
const txId = 'A'.repeat(43);
const [publicUrl, ipfsGatewayUrl, arweaveGatewayUrl] = [
  'https://minds.example',
  'https://ipfs.example/ipfs',
  'https://arweave.example',
];
const all = { publicUrl, ipfsGatewayUrl, arweaveGatewayUrl, otherGatewayUrl: null };
const other = {
  ...all,
  ipfsGatewayUrl: null,
  arweaveGatewayUrl: null,
  otherGatewayUrl: 'https://friends.example/archive',
};
const own = 'https://minds.example/archive';

it.each([
  [txId, true, all, own],
  [cid, true, all, own],
  [txId, false, all, arweaveGatewayUrl],
  [cid, false, all, ipfsGatewayUrl],
  ['something else', false, all, own],
  [txId, false, { ...all, arweaveGatewayUrl: null }, own],
  [cid, false, { ...all, ipfsGatewayUrl: null }, own],
])('the payload %s (stored here: %j) is read at the right URL [8.5m]', (id, isKept, places, expected) => {
  expect(downloadAddress(id, isKept, places)).toBe(expected);
});

it('an id falls back to the first other gateway if none serves its form, unless the payload is here [8.5m]', () => {
  for (const id of [cid, txId, 'any']) {
    expect(downloadAddress(id, false, other)).toBe('https://friends.example/archive');
    expect(downloadAddress(id, true, other)).toBe(own);
  }
  expect(downloadAddress(txId, false, { ...other, arweaveGatewayUrl: 'https://arweave.example' })).toBe(
    'https://arweave.example',
  );
});
