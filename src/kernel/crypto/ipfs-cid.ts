import { hash } from 'node:crypto';

import { encode, prepare } from '@ipld/dag-pb';
import { CID, digest, varint } from 'multiformats';

import type { Sliced } from '../base/sliced.js';

/** `raw` and `dag-pb` in the table of multicodecs, and SHA-256 in the table of multihashes. */
const RAW = 0x55;
const DAG_PB = 0x70;
const SHA_256 = 0x12;
/** The chunk size of `ipfs add --cid-version=1`. */
const CHUNK_BYTES = 256 * 1024;
/** The maximum number of links of one node; a file of more chunks would need another level. */
const MAX_LINKS = 174;
/** The largest file for which a CID is made. */
const MAX_FILE_BYTES = CHUNK_BYTES * MAX_LINKS;

/** A CIDv1 in base32 of a raw block or a file, by its SHA-256. Its last character holds two spare bits, which are 0. */
const IPFS_CID = /^b(?:afkrei|afybei)[a-h][a-z2-7]{50}[aeimquy4]$/;

/** Whether a text is a CID as `ipfsCid` makes them. Only such a CID can be checked against bytes by computing it again. */
export const isIpfsCid = (text: string): boolean => IPFS_CID.test(text);

const cidOf = (codec: number, block: Uint8Array): CID =>
  CID.createV1(codec, digest.create(SHA_256, hash('sha256', block, 'buffer')));

/** The UnixFS header of a file of these chunks, in Protocol Buffers: Type = File (field 1), filesize (3), blocksizes (4). */
const fileHeader = (sizes: readonly number[]): Uint8Array => {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const numbers = [0x08, 2, 0x18, total, ...sizes.flatMap((size) => [0x20, size])];
  const header = new Uint8Array(numbers.reduce((sum, number) => sum + varint.encodingLength(number), 0));
  let at = 0;
  for (const number of numbers) {
    varint.encodeTo(number, header, at);
    at += varint.encodingLength(number);
  }
  return header;
};

/**
 * The CIDv1 of a file as Kubo makes it for `ipfs add --cid-version=1`: one chunk is a raw block; several are raw blocks below one node of dag-pb.
 * @throws RangeError for more than 43.5 MiB
 */
export function* ipfsCid(bytes: Uint8Array): Sliced<string> {
  if (bytes.length > MAX_FILE_BYTES) throw new RangeError('the file is too large for one node');
  if (bytes.length <= CHUNK_BYTES) return cidOf(RAW, bytes).toString();
  const links: { readonly Hash: CID; readonly Name: string; readonly Tsize: number }[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const chunk = bytes.subarray(at, at + CHUNK_BYTES);
    links.push({ Hash: cidOf(RAW, chunk), Name: '', Tsize: chunk.length });
    yield chunk.length;
  }
  const node = prepare({ Data: fileHeader(links.map(({ Tsize }) => Tsize)), Links: links });
  return cidOf(DAG_PB, encode(node)).toString();
}
