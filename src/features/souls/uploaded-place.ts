import { isContentDigest } from '../../kernel/crypto/content-digest.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { nullWhenAway } from '../../ports/archive-unavailable.js';
import type { PayloadSource } from '../../ports/payload-source.js';
import type { SoulArchive } from '../../ports/soul-archive.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import type { KeyedMutex } from '../../kernel/concurrency/keyed-mutex.js';
import { archiveUrl } from './download-address.js';
import { payloadDigest } from '../../kernel/crypto/content-digest.js';
import { canonicalPayload } from './payload-digest.js';
import type { OtherArchives } from './other-archives.js';
import { payloadDocument } from './payload-document.js';

export type UploadedDeps = {
  readonly archive: Pick<SoulArchive, 'readPublic'>;
  readonly archives: Pick<OtherArchives, 'bundler'>;
  readonly publicUrl: string;
  /** A gateway's answers may be large, so they are read sequentially. */
  readonly mutex: KeyedMutex;
};

/**
 * Where a payload is that a client reports as uploaded.
 * @param txId the id that the archive gave it; null if the client sends none
 * @throws Rejection SOUL_UPLOAD_FAILED if no archive can have it under that id, SOUL_PAYLOAD_MISMATCH if something else has the id, BUSY; errors from the
 * archive
 */
export const uploadedPlace = async (
  { archive, archives, publicUrl, mutex }: UploadedDeps,
  digest: string,
  txId: string | null,
): Promise<{ readonly txId: string; readonly url: string }> => {
  // The archive of this server identifies payloads by digest.
  const isOwn = (txId ?? digest) === digest && (await archive.readPublic(digest)) !== null;
  if (isOwn) return { txId: digest, url: archiveUrl(publicUrl, digest) };
  const { bundler } = archives;
  // An id of Arweave has the form of a digest.
  if (bundler === null || txId === null || !isContentDigest(txId)) {
    throw new Rejection('SOUL_UPLOAD_FAILED', {
      message: 'The archive has no such payload under this aurTxId. Upload it, then confirm again.',
      details: { aurTxId: txId ?? digest },
    });
  }
  await mutex.runExclusive('gateway', () => requireNoOther(bundler.gateway, digest, txId));
  return { txId, url: `${bundler.gatewayUrl}/${txId}` };
};

/** Gateways see bundled payloads with a delay: until this one has something under the id, the client's report is accepted. */
const requireNoOther = async (gateway: PayloadSource, digest: string, txId: string): Promise<void> => {
  const bytes = await gateway.fetch(txId).catch(nullWhenAway);
  if (bytes === null) return;
  if (bytes !== 'too_large') {
    if ((await inSlices(payloadDigest(bytes))) === digest || (await canonicalDigest(bytes)) === digest) return;
  }
  throw new Rejection('SOUL_PAYLOAD_MISMATCH', { details: { txId } });
};

/** Clients may have written the payload in a different form. Null for bytes that have no canonical form. */
const canonicalDigest = async (bytes: Uint8Array): Promise<string | null> => {
  try {
    return (await canonicalPayload(await payloadDocument(bytes))).digest;
  } catch {
    return null;
  }
};
