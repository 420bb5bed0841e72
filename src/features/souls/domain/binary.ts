import { type Sliced, drained } from '../../../kernel/base/sliced.js';
import type { Json } from '../../../kernel/base/json.js';
import { MAX_SOUL_BYTES } from './bounds.js';
import { decodeCbor, encodeCbor } from './cbor.js';
import type { SoulDocument } from './document.js';

/** A soul as CBOR. The same soul gives the same bytes, whatever the order of its members. It yields whenever the driver may pause. */
export const soulToCborSlices = (soul: SoulDocument): Sliced<Uint8Array> => encodeCbor(soul);

/** The same without yielding. */
export const soulToCbor = (soul: SoulDocument): Uint8Array => drained(soulToCborSlices(soul));

/**
 * Reads CBOR as `soulToCbor` writes it, and no other. It yields whenever the driver may pause.
 * @returns any JSON value, which may still not be a soul (verifySoul); null for bytes in any other encoding
 */
export function* soulFromCborSlices(bytes: Uint8Array): Sliced<Json> {
  // A value takes at most three times as much as in JCS: nine bytes for a number of three characters.
  if (bytes.length > 3 * MAX_SOUL_BYTES) return null;
  try {
    const value = yield* decodeCbor(bytes);
    // Repeated names, names in a different order, and numbers or lengths in a longer form are not reproduced by encoding.
    return Buffer.compare(yield* encodeCbor(value), bytes) === 0 ? value : null;
  } catch {
    return null;
  }
}
