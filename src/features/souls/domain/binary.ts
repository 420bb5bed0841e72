import { type Sliced, drained } from '../../../kernel/base/sliced.js';
import type { Json } from '../../../kernel/base/json.js';
import { MAX_SOUL_BYTES } from './bounds.js';
import { decodeCbor, encodeCbor } from './cbor.js';
import type { SoulDocument } from './document.js';

/** A soul as CBOR. The same soul is the same bytes, in whatever order its members stand. It yields whenever the driver may pause. */
export const soulToCborSlices = (soul: SoulDocument): Sliced<Uint8Array> => encodeCbor(soul);

/** The same at once. */
export const soulToCbor = (soul: SoulDocument): Uint8Array => drained(soulToCborSlices(soul));

/**
 * Reads CBOR as `soulToCbor` writes it, and no other. It yields whenever the driver may pause.
 * @returns any JSON value, which may still be no soul (verifySoul); null for bytes that nobody wrote in this way
 */
export function* soulFromCborSlices(bytes: Uint8Array): Sliced<Json> {
  // A value takes three times as much as in JCS at most: nine bytes for a number of three characters.
  if (bytes.length > 3 * MAX_SOUL_BYTES) return null;
  try {
    const value = yield* decodeCbor(bytes);
    // Names that come twice, stand in another order, and numbers or lengths in a longer form are not written again like that.
    return Buffer.compare(yield* encodeCbor(value), bytes) === 0 ? value : null;
  } catch {
    return null;
  }
}
