import { soulToCborSlices } from './domain/binary.js';
import type { SoulArchive } from '../../ports/soul-archive.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { KeyedMutex } from '../../kernel/concurrency/keyed-mutex.js';
import { Semaphore } from '../../kernel/concurrency/semaphore.js';
import { sealedSoul } from './sealed-soul.js';
import { createShownPayloads, type ShownPayloads } from './shown-payloads.js';

/**
 * The maximum number of sealed souls in memory for their exporters, in total and for one tenant: at most 256 MiB, and only if all have the maximum
 * size.
 */
export const SEALED_SHOWN = 16;
export const TENANT_SEALED_SHOWN = 8;
/** The same in binary form: 48 MiB each, if one consists only of short numbers. */
export const BINARY_SHOWN = 4;
export const TENANT_BINARY_SHOWN = 2;

/** Souls that this server has sealed, whether or not they are public, by digest. */
export type SealedPayloads = {
  /** Their JCS form. */
  readonly json: ShownPayloads;
  /** Their CBOR form. */
  readonly binary: ShownPayloads;
};

/** Sealed souls for responses. They are converted to their binary form sequentially: each takes much memory while it is read. */
export const createSealedPayloads = (archive: Pick<SoulArchive, 'read'>, mutex = new KeyedMutex()): SealedPayloads => {
  const asCbor = (digest: string) =>
    mutex.runExclusive('binary', async () => {
      const soul = await sealedSoul(archive, digest);
      return soul === null ? null : inSlices(soulToCborSlices(soul));
    });
  return {
    json: createShownPayloads((digest) => archive.read(digest), new Semaphore(SEALED_SHOWN, TENANT_SEALED_SHOWN)),
    binary: createShownPayloads(asCbor, new Semaphore(BINARY_SHOWN, TENANT_BINARY_SHOWN)),
  };
};
