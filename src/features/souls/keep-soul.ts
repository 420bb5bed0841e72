import type { SoulExportInput } from '../../../workflows/soul-export.js';
import { soulToCborSlices } from './domain/binary.js';
import { ipfsCid } from '../../kernel/crypto/ipfs-cid.js';
import type { SoulDocument } from './domain/document.js';
import type { Clock } from '../../ports/clock.js';
import { MAX_ARCHIVED_BYTES, type SoulArchive } from '../../ports/soul-archive.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { archiveUrl } from './download-address.js';
import type { OtherArchives } from './other-archives.js';
import { payloadDocument } from './payload-document.js';
import { payloadDigest } from '../../kernel/crypto/content-digest.js';
import { takePayload } from './take-payload.js';

export type KeepDeps = {
  readonly archive: SoulArchive;
  readonly clock: Pick<Clock, 'now'>;
  readonly archives: Pick<OtherArchives, 'ipfs'>;
  /** The public URL of this server. */
  readonly issuer: string;
};

/** A sealed soul that this server stores: in its own archive as it was sealed, or also under a CID, possibly as CBOR. */
export type KeepRequest = { readonly digest: string; readonly storage?: 'ipfs'; readonly format?: 'binary' };

const lost: SoulExportInput = {
  type: 'failed',
  code: 'SOUL_UPLOAD_FAILED',
  reason: 'The sealed soul is no longer in the archive.',
};

const tooLarge: SoulExportInput = {
  type: 'failed',
  code: 'SOUL_TOO_LARGE',
  reason: 'The soul is too large for an archive as CBOR. Export it as JSON.',
};

/**
 * Stores a sealed soul. A repeat has the same result.
 * @throws Rejection ARCHIVE_UNAVAILABLE while the IPFS node does not answer; errors from the archive; the reason of the signal
 */
export const keepSoul = async (
  deps: KeepDeps,
  tenant: string,
  asked: KeepRequest,
  signal: AbortSignal,
): Promise<SoulExportInput> => {
  const { archive, clock, issuer } = deps;
  const { digest } = asked;
  if (asked.storage === 'ipfs') return keepByCid(deps, tenant, asked, signal);
  const kept = await archive.publish(digest, { tenant, at: clock.now() });
  return kept === null ? lost : { type: 'uploaded', digest, txId: digest, url: archiveUrl(issuer, digest) };
};

const binaryOf = async (sealed: Uint8Array): Promise<Uint8Array> =>
  inSlices(soulToCborSlices((await payloadDocument(sealed)) as unknown as SoulDocument));

/** The built-in archive stores it too, so it can be read here whatever happens to the node. It comes last: until then the soul is not visible. */
const keepByCid = async (
  deps: KeepDeps,
  tenant: string,
  { digest, format }: KeepRequest,
  signal: AbortSignal,
): Promise<SoulExportInput> => {
  const { archive, archives, issuer } = deps;
  const isBinary = format === 'binary';
  const sealed = await archive.read(digest);
  if (sealed === null) return lost;
  const bytes = isBinary ? await binaryOf(sealed) : sealed;
  // Numbers may take three times as much as in JSON.
  if (bytes.length > MAX_ARCHIVED_BYTES) return tooLarge;
  const cid = await inSlices(ipfsCid(bytes));
  const said = (await archives.ipfs?.add(bytes, signal)) ?? cid;
  if (said !== cid) {
    // The pin is left on the node: the operator may have pinned the same content before, and pins are not counted.
    const reason = `The IPFS node names the soul ${said.slice(0, 100)}, but its CID is ${cid}.`;
    return { type: 'failed', code: 'SOUL_UPLOAD_FAILED', reason };
  }
  const kept = isBinary ? await inSlices(payloadDigest(bytes)) : digest;
  await archive.nameByCid(cid, kept);
  await takePayload(deps, { digest: kept, tenant, bytes });
  return { type: 'uploaded', digest, txId: cid, url: archiveUrl(issuer, cid) };
};
